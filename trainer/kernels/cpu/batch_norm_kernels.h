// CPU kernels of batch normalization. The batch is shared out by rows; the moments of the shares
// are joined as those of chunks are (image_loops.h), so that threads change no bit.
//
// Ownership: the registry given. Threads: one at a time. Errors: none of data.
//
//   AddBatchNormKernels(&kernels);

#ifndef TRAINER_KERNELS_CPU_BATCH_NORM_KERNELS_H_
#define TRAINER_KERNELS_CPU_BATCH_NORM_KERNELS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas {

void AddBatchNormKernels(KernelRegistry* kernels);

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_BATCH_NORM_KERNELS_H_
