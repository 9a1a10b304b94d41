// An op on the processor and on a GPU: its kernel for "GPU" against its twin for "CPU".
//
// Tests see a GPU that is emulated (trainer/cuda/emulate; twin.cc), in ten orders of threads and
// blocks, each load and store watched. Program `parity` has the same cases on a card
// (card_twin.h).
//
// Ownership: values. Threads: one at a time. Errors: fail the test, with the op's name.
//
//   ExpectTwin({.op = "Relu", .inputs = {RandomFloats(Shape({3, 5}), 1)}});

#ifndef TRAINER_KERNELS_CUDA_TESTING_TWIN_H_
#define TRAINER_KERNELS_CUDA_TESTING_TWIN_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer/graph/attributes.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/graph/step_block.h"
#include "trainer/graph/tensor_type.h"

namespace taas::cuda {

struct HostTensor {
  TensorType type;
  std::vector<std::byte> bytes;
  bool absent = false;  // A null pointer is given.

  template <typename T>
  std::span<const T> As() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

template <typename T>
HostTensor TensorOf(DType dtype, Shape shape, const std::vector<T>& values) {
  HostTensor tensor{.type = {dtype, std::move(shape)}, .bytes = {}};
  tensor.bytes.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}
inline HostTensor Floats(Shape shape, const std::vector<float>& values) {
  return TensorOf(DType::kFloat32, std::move(shape), values);
}
// In [low, high).
HostTensor RandomFloats(Shape shape, uint64_t seed, double low = -1, double high = 1);
// Integers from 0 below `bound`, of kInt32, kInt64 or kUint8.
HostTensor RandomIntegers(DType dtype, Shape shape, uint64_t seed, int64_t bound);

struct OpCase {
  std::string op;
  std::vector<HostTensor> inputs;
  Attributes attributes{};
  // How far a result may be from its twin, in parts of the largest element (at least 0.1); 0: the
  // same bits.
  double tolerance = 0;
  StepBlock block{};
  int32_t index = 0;          // Of the kernel, in the order of the step.
  std::string name = "node";  // Of the node, and
  uint64_t seed = 0;          // of the session: both are in random numbers.
  // Of threads and blocks; fewer where a case has very many.
  int orders = 10;
  // A kernel that finds a fault may leave anything in its outputs (step_block.h): they are not
  // looked at.
  bool wrong_data = false;
  // Output i lies where input in_place[i] lies; -1, or none: elsewhere.
  std::vector<int> in_place{};
  // What lies in outputs that are not in place before the op: of one whose outputs stay from step
  // to step.
  std::vector<HostTensor> before{};
  // Of an op that is in no graph (trainer/optimizer/update_ops.h): types of inputs and outputs
  // alike, as its KernelSpec has them. Its outputs are all in place.
  std::vector<TensorType> spec{};
  // Bytes by which the GPU's tensors lie behind a multiple of 256.
  size_t behind = 0;
  const KernelRegistry* kernels = nullptr;  // Those held against the twin; null: the standard ones.
  const KernelRegistry* twins = nullptr;    // The processor's, likewise.
  Precision products = Precision::kFloat32;  // In what both may multiply.
};

// What both leave in their outputs, and in the block's fault. What a kernel leaves alone is 77 in
// each byte.
void ExpectTwin(const OpCase& of);

// Output 0 of its kernel for the processor: for a case whose inputs are what another op made.
HostTensor OnProcessor(const OpCase& of);

// The processor's kernel for an op of float32, for twins that are put together of several.
absl::StatusOr<Kernel> ProcessorKernel(const char* op, const KernelSpec& spec);

// Its outputs on the GPU.
std::vector<HostTensor> OnGpu(const OpCase& of);

// What a launch on a GPU costs, for tables that a test holds fast.
struct OpCosts {
  int launches = 0;
  int64_t barriers = 0, read_bytes = 0, written_bytes = 0;
  bool of_card = false;  // Which tells only launches.

  friend bool operator==(const OpCosts& a, const OpCosts& b) {
    if (a.launches != b.launches) return false;
    return a.of_card || b.of_card ||
           (a.barriers == b.barriers && a.read_bytes == b.read_bytes &&
            a.written_bytes == b.written_bytes);
  }
};
OpCosts CostsOf(const OpCase& of);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_TESTING_TWIN_H_
