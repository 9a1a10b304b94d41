// Ops that compute each element from those at the same place.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h.

#ifndef TRAINER_KERNELS_CUDA_ELEMENTWISE_OPS_H_
#define TRAINER_KERNELS_CUDA_ELEMENTWISE_OPS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas::cuda {

void AddElementwiseKernels(KernelRegistry* kernels);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_ELEMENTWISE_OPS_H_
