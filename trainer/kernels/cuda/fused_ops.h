// The op of merged chains: one launch that passes over memory once.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h.

#ifndef TRAINER_KERNELS_CUDA_FUSED_OPS_H_
#define TRAINER_KERNELS_CUDA_FUSED_OPS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas::cuda {

// Fused.
void AddFusedKernels(KernelRegistry* kernels);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_FUSED_OPS_H_
