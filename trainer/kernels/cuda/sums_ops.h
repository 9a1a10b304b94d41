// Ops that add up elements over neighbouring axes, and the one that repeats them.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h.

#ifndef TRAINER_KERNELS_CUDA_SUMS_OPS_H_
#define TRAINER_KERNELS_CUDA_SUMS_OPS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "trainer/graph/kernel_registry.h"

namespace taas::cuda {

// ReduceSum, ReduceMean, L1Loss, L2Loss, Expand.
void AddSumKernels(KernelRegistry* kernels);

// y[columns] = the sums over the rows of x[rows, columns], as a part of another op.
struct ColumnSums {
  int64_t rows = 0, columns = 0;
  const float* x = nullptr;
  float* y = nullptr;
  void* scratch = nullptr;  // ColumnSumsScratchBytes of it.
};
size_t ColumnSumsScratchBytes(int64_t rows, int64_t columns);
absl::Status LaunchColumnSums(const KernelCall& call, const ColumnSums& of);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_SUMS_OPS_H_
