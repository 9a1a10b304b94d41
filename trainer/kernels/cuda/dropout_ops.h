// Dropout.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h.

#ifndef TRAINER_KERNELS_CUDA_DROPOUT_OPS_H_
#define TRAINER_KERNELS_CUDA_DROPOUT_OPS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas::cuda {

void AddDropoutKernels(KernelRegistry* kernels);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_DROPOUT_OPS_H_
