// CPU kernels of sequences and tokens but those of attention_kernels.h and lstm_kernels.h.
//
// Ownership: the registry given. Threads: one at a time. Errors: of data, InvalidArgument that
// names the element: a number that is no token, an id that the table does not have.
//
//   AddSequenceKernels(&kernels);

#ifndef TRAINER_KERNELS_CPU_SEQUENCE_KERNELS_H_
#define TRAINER_KERNELS_CPU_SEQUENCE_KERNELS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas {

void AddSequenceKernels(KernelRegistry* kernels);

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_SEQUENCE_KERNELS_H_
