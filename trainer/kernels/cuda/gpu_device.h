// A GPU as kernels see it when they are made: what its libraries plan for them, and can do.
//
// Ownership: a plan is its device's, and stays as long as that. Threads: any. Errors: none; the log
// has said why there is no plan.
//
//   const ConvPlan* const plan = static_cast<GpuDevice*>(spec.device)->PlanConvolution(shape);

#ifndef TRAINER_KERNELS_CUDA_GPU_DEVICE_H_
#define TRAINER_KERNELS_CUDA_GPU_DEVICE_H_

#include "trainer/graph/device.h"
#include "trainer/kernels/cuda/convolution.h"
#include "trainer/kernels/cuda/fused_attention.h"

namespace taas::cuda {

struct Product;  // launch.h

// Each GPU is one of those: KernelSpec::device of kernels for "GPU".
class GpuDevice : public Device {
 public:
  // Null where the shape is better computed in another way: no library, or none of its ways fits.
  // Made once, and the same from then on.
  virtual const ConvPlan* PlanConvolution(const ConvShape& shape) = 0;
  virtual const AttentionPlan* PlanAttention(const AttentionShape& shape) = 0;
  // Whether the library has a way for a product with its epilogue, wherever its tensors lie at
  // multiples of kEpilogueAlignment bytes. Found once, and the same from then on; the log says why
  // not.
  virtual bool CanMultiply(const Product& product) = 0;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_GPU_DEVICE_H_
