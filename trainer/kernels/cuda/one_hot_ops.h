// The op that writes ids as rows of zeros with a one.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h.

#ifndef TRAINER_KERNELS_CUDA_ONE_HOT_OPS_H_
#define TRAINER_KERNELS_CUDA_ONE_HOT_OPS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas::cuda {

// OneHot.
void AddOneHotKernels(KernelRegistry* kernels);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_ONE_HOT_OPS_H_
