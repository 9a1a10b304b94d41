// The kernels of trainer/optimizer/update_ops.h: updates of variables, and what is done to
// gradients before.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h; a loss that is no number
// is a fault.

#ifndef TRAINER_KERNELS_CUDA_UPDATE_OPS_H_
#define TRAINER_KERNELS_CUDA_UPDATE_OPS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas::cuda {

void AddUpdateKernels(KernelRegistry* kernels);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_UPDATE_OPS_H_
