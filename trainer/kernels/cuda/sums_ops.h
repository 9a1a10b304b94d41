// Ops that add up elements over neighbouring axes, and the one that repeats them.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h.

#ifndef TRAINER_KERNELS_CUDA_SUMS_OPS_H_
#define TRAINER_KERNELS_CUDA_SUMS_OPS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas::cuda {

// ReduceSum, ReduceMean, L1Loss, L2Loss, Expand.
void AddSumKernels(KernelRegistry* kernels);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_SUMS_OPS_H_
