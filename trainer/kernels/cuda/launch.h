// How the ops' kernels launch functions on a GPU: through the stream that they are called with.
//
// Ownership: borrows the call. Threads: those of the stream. Errors: the stream's.
//
//   return Launch(call, kScaleKernel, ForElements(n), {call.in(0), call.out(), n, factor});

#ifndef TRAINER_KERNELS_CUDA_LAUNCH_H_
#define TRAINER_KERNELS_CUDA_LAUNCH_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "trainer/graph/device.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/graph/tensor_type.h"
#include "trainer/kernels/cuda/kernels.h"

namespace taas::cuda {

// The type of such devices, as placement has it.
inline constexpr char kGpu[] = "GPU";

// Blocks, and threads of each.
struct Grid {
  unsigned x = 1, y = 1, z = 1;
  unsigned threads = 256;
};

// What is computed with a product in the same call, of `vector`, of n elements.
enum class Epilogue : uint8_t {
  kNone,
  kBias,      // It is added to each row of c.
  kBiasGrad,  // It becomes the sum of the rows of b, which lies as [k, n].
};

// Where tensors of a product with an epilogue begin, in bytes: as wide as a GPU's loads are.
inline constexpr size_t kEpilogueAlignment = 16;

// c = a b, or c += a b, of matrices by rows: a of [m, k], b of [k, n], c of [m, n]; as many such
// products as `batch`, whose matrices lie so many elements apart. They may be columns of wider
// ones, and of several results no two have an element in common. One with an epilogue is a single
// one, and adds to nothing.
struct Product {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;  // It lies as [k, m], as [n, k].
  bool adds = false;
  int64_t a_row = 0, b_row = 0, c_row = 0;  // Elements from row to row as it lies; 0: dense.
  int64_t batch = 1;
  int64_t a_apart = 0, b_apart = 0, c_apart = 0;
  Precision precision = Precision::kFloat32;
  Epilogue epilogue = Epilogue::kNone;
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  float* vector = nullptr;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;

  int64_t a_step() const { return a_row > 0 ? a_row : transpose_a ? m : k; }
  int64_t b_step() const { return b_row > 0 ? b_row : transpose_b ? k : n; }
  int64_t c_step() const { return c_row > 0 ? c_row : n; }
};

class ConvPlan;  // convolution.h
struct ConvTensors;
class AttentionPlan;  // fused_attention.h
struct AttentionTensors;

// The stream of a GPU, beyond what each device has. Each is one of those: KernelCall::stream of
// kernels for "GPU".
class GpuStream : public Stream {
 public:
  // `params` is the struct of the kernel of that number (kernels.h), and is copied.
  virtual absl::Status LaunchFunction(int kernel, const Grid& grid, const void* params) = 0;
  virtual absl::Status Zero(void* memory, size_t bytes) = 0;
  // By cuBLASLt. None of m, n, k and batch is 0. With an epilogue only where the device can
  // (GpuDevice::CanMultiply), and has been asked.
  virtual absl::Status Multiply(const Product& product) = 0;
  // By the library that has made the plan.
  virtual absl::Status Convolve(const ConvPlan& plan, const ConvTensors& tensors) = 0;
  virtual absl::Status Attend(const AttentionPlan& plan, const AttentionTensors& tensors) = 0;
};

inline GpuStream& StreamOf(const KernelCall& call) {
  return static_cast<GpuStream&>(*call.stream);
}

// A grid of no block, of an empty tensor, launches nothing.
template <typename Params>
absl::Status Launch(const KernelCall& call, KernelRef<Params> kernel, const Grid& grid,
                    const Params& params) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return absl::OkStatus();
  return StreamOf(call).LaunchFunction(kernel.index, grid, &params);
}

// One thread for `each` elements, in blocks of 256: four warps fill a multiprocessor's schedulers,
// eight hide more of the memory's delay, and any count is of few blocks that are partly idle.
inline Grid ForElements(int64_t count, int64_t each = 1) {
  const int64_t per_block = 256 * each;
  return {.x = static_cast<unsigned>((count + per_block - 1) / per_block)};
}

// Rounded up: what follows it in a kernel's scratch memory begins where a GPU's own memory would.
inline size_t Aligned(size_t bytes) {
  constexpr size_t kAlignment = 256;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_LAUNCH_H_
