// CPU kernels of pooling and dropout.
//
// Ownership: the registry given. Threads: one at a time. Errors: none of data.
//
//   AddImageKernels(&kernels);

#ifndef TRAINER_KERNELS_CPU_IMAGE_KERNELS_H_
#define TRAINER_KERNELS_CPU_IMAGE_KERNELS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas {

void AddImageKernels(KernelRegistry* kernels);

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_IMAGE_KERNELS_H_
