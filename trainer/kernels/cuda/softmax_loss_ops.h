// SparseSoftmaxCrossEntropy and its gradient.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h; faults are of labels.

#ifndef TRAINER_KERNELS_CUDA_SOFTMAX_LOSS_OPS_H_
#define TRAINER_KERNELS_CUDA_SOFTMAX_LOSS_OPS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas::cuda {

void AddSoftmaxLossKernels(KernelRegistry* kernels);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_SOFTMAX_LOSS_OPS_H_
