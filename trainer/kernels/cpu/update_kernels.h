// The kernels of update_ops.h for the CPU.
//
// Ownership, threads, errors: kernel_registry.h's.
//
//   AddUpdateKernels(kernels);

#ifndef TRAINER_KERNELS_CPU_UPDATE_KERNELS_H_
#define TRAINER_KERNELS_CPU_UPDATE_KERNELS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas {

void AddUpdateKernels(KernelRegistry* kernels);

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_UPDATE_KERNELS_H_
