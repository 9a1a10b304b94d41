// Convolutions by the device's own plans (convolution.h: cuDNN), for conv_ops.
//
// The plans want filters as [out, height, width, in], with the channels of a pixel next to each
// other; variables have them as [height, width, in, out], as TensorFlow and the processor do. So
// filters are transposed on the way, which is little beside a convolution.
//
// For products in bfloat16 tensor cores take the floats as TF32, which rounds less: cuDNN (9.28, on
// an H100) has no engine that reads bfloat16 and gives floats.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h.
//
//   if (std::optional<Kernel> planned = PlannedConv(spec, shape)) return *std::move(planned);

#ifndef TRAINER_KERNELS_CUDA_PLANNED_CONV_H_
#define TRAINER_KERNELS_CUDA_PLANNED_CONV_H_

#include <optional>

#include "trainer/graph/kernel_registry.h"
#include "trainer/kernels/cuda/convolution.h"

namespace taas::cuda {

// With as many zeros behind as in front, where that gives the same outputs: more ways know it.
ConvShape WithEvenPadding(ConvShape shape);

// Nothing where the device, if there is one, has no plan.
std::optional<Kernel> PlannedConv(const KernelSpec& spec, const ConvShape& shape);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_PLANNED_CONV_H_
