// Embedding, EmbeddingGrad and EmbeddingRowsGrad.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h, and of a table that is
// looked up in more often than a launch has room for; faults are of ids.

#ifndef TRAINER_KERNELS_CUDA_EMBEDDING_OPS_H_
#define TRAINER_KERNELS_CUDA_EMBEDDING_OPS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas::cuda {

void AddEmbeddingKernels(KernelRegistry* kernels);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_EMBEDDING_OPS_H_
