// MaxPool and AvgPool with their gradients, and MaxPoolReluGrad.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h, and of images too large
// for 32 bits along an axis.

#ifndef TRAINER_KERNELS_CUDA_POOLING_OPS_H_
#define TRAINER_KERNELS_CUDA_POOLING_OPS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas::cuda {

void AddPoolingKernels(KernelRegistry* kernels);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_POOLING_OPS_H_
