// Ops that move elements and compute nothing.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h.

#ifndef TRAINER_KERNELS_CUDA_MOVES_OPS_H_
#define TRAINER_KERNELS_CUDA_MOVES_OPS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas::cuda {

// Concat, Pad, Slice (also of int64), SwapLeading.
void AddMoveKernels(KernelRegistry* kernels);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_MOVES_OPS_H_
