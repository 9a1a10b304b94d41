// Lstm and its gradient: products by cuBLASLt, of all steps at once where they do not wait for each
// other, and the cells of a step between them (lstm.h).
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h.

#ifndef TRAINER_KERNELS_CUDA_LSTM_OPS_H_
#define TRAINER_KERNELS_CUDA_LSTM_OPS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas::cuda {

// Lstm, LstmGrad.
void AddLstmKernels(KernelRegistry* kernels);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_LSTM_OPS_H_
