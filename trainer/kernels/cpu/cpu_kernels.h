// The kernels of this tree's ops for the CPU.
//
// Ownership: StandardKernels lives as long as the program. Threads: any. Errors: see
// kernel_registry.h.
//
//   KernelRegistry mine;
//   AddCpuKernels(&mine);   // then the program's own

#ifndef TRAINER_KERNELS_CPU_CPU_KERNELS_H_
#define TRAINER_KERNELS_CPU_CPU_KERNELS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas {

void AddCpuKernels(KernelRegistry* kernels);

const KernelRegistry& StandardKernels();

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_CPU_KERNELS_H_
