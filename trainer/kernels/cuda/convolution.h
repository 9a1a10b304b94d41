// Convolutions by a library that plans them beforehand: what it is asked for, what it answers, and
// the device that asks it (trainer/cuda has cuDNN); of the device also what it says of products.
//
// Ownership: a plan is its device's, and stays as long as that. Threads: any, but a stream's own.
// Errors: the stream's.
//
//   const ConvPlan* const plan = device.PlanConvolution(shape);
//   … plan->workspace_bytes() …
//   RETURN_IF_ERROR(stream.Convolve(*plan, {.images = x, .filters = w, .outputs = y, …}));

#ifndef TRAINER_KERNELS_CUDA_CONVOLUTION_H_
#define TRAINER_KERNELS_CUDA_CONVOLUTION_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "trainer/graph/device.h"

namespace taas::cuda {

// Which of its three tensors a convolution computes from the other two.
enum class ConvPart : uint8_t { kOutputs, kImagesGrad, kFiltersGrad };

// Images [count, height, width, in], filters [out, height, width, in], outputs [count, height,
// width, out], each dense and of floats. Filters are not turned around (cross correlation), and not
// dilated.
struct ConvShape {
  using Pair = std::array<int64_t, 2>;  // Of height and width.

  ConvPart part = ConvPart::kOutputs;
  int64_t count = 0, in = 0, out = 0;
  Pair image{}, filter{}, output{};
  Pair stride{1, 1}, before{}, after{};  // Rows and columns of zeros around each image.
  bool tf32 = false;  // Tensor cores may take part: they round factors to ten bits.

  auto operator<=>(const ConvShape&) const = default;
};

// A way for one shape, on one device.
class ConvPlan {
 public:
  virtual ~ConvPlan() = default;
  virtual size_t workspace_bytes() const = 0;
};

// Each begins at a multiple of kConvAlignment bytes. The one that is computed is written whole.
inline constexpr int64_t kConvAlignment = 16;
struct ConvTensors {
  void* images = nullptr;
  void* filters = nullptr;
  void* outputs = nullptr;
  void* workspace = nullptr;
};

struct Product;  // launch.h

// A GPU, beyond what each device has. Each is one of those: KernelSpec::device of kernels for
// "GPU".
class GpuDevice : public Device {
 public:
  // Null where the shape is better computed in another way: no library, or none of its ways fits.
  // The log has said why. Made once, and the same from then on.
  virtual const ConvPlan* PlanConvolution(const ConvShape& shape) = 0;
  // Whether the library has a way for a product with its epilogue, wherever its tensors lie at
  // multiples of kEpilogueAlignment bytes. Found once, and the same from then on; the log says why
  // not.
  virtual bool CanMultiply(const Product& product) = 0;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_CONVOLUTION_H_
