// Ops that move elements and compute nothing.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h.

#ifndef TRAINER_KERNELS_CUDA_MOVES_OPS_H_
#define TRAINER_KERNELS_CUDA_MOVES_OPS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "trainer/graph/kernel_registry.h"

namespace taas::cuda {

// Concat, Pad, Slice (also of int64), SwapLeading.
void AddMoveKernels(KernelRegistry* kernels);

// to[columns, rows] = from[rows, columns].
absl::Status Transpose(const KernelCall& call, const float* from, float* to, int64_t rows,
                       int64_t columns);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_MOVES_OPS_H_
