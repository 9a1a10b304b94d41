// Kernels of the losses and of a classifier's measures.
//
// Ownership: the registry given. Threads: one at a time. Errors: a label outside [0, classes) is
// InvalidArgument, with the row.
//
//   AddLossKernels(&kernels);

#ifndef TRAINER_KERNELS_CPU_LOSS_KERNELS_H_
#define TRAINER_KERNELS_CPU_LOSS_KERNELS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas {

void AddLossKernels(KernelRegistry* kernels);

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_LOSS_KERNELS_H_
