// CPU kernels of convolutions, over oneDNN.
//
// Ownership: the registry given. Threads: one at a time. Errors: Internal where oneDNN cannot make
// a convolution.
//
//   AddConvKernels(&kernels);

#ifndef TRAINER_KERNELS_CPU_CONV_KERNELS_H_
#define TRAINER_KERNELS_CPU_CONV_KERNELS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas {

void AddConvKernels(KernelRegistry* kernels);

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_CONV_KERNELS_H_
