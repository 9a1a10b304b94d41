// Ops that look for the largest element of each row.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h.

#ifndef TRAINER_KERNELS_CUDA_ARG_MAX_OPS_H_
#define TRAINER_KERNELS_CUDA_ARG_MAX_OPS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas::cuda {

// ArgMax, Accuracy.
void AddArgMaxKernels(KernelRegistry* kernels);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_ARG_MAX_OPS_H_
