// The kernels of trainer/optimizer/update_ops.h: updates of variables, and what is done to
// gradients before.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h; a loss that is no number
// is a fault.

#ifndef TRAINER_KERNELS_CUDA_UPDATE_OPS_H_
#define TRAINER_KERNELS_CUDA_UPDATE_OPS_H_

#include <cstdint>

#include "trainer/graph/kernel_registry.h"

namespace taas::cuda {

void AddUpdateKernels(KernelRegistry* kernels);

// Of a block that updates variables of `all` elements together: as many as make so many blocks as
// the largest GPU runs at once, but no fewer than keep its threads busy, and no more than a part of
// the whole that may end last.
int32_t UpdateElements(int64_t all);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_UPDATE_OPS_H_
