// CPU kernels of an LSTM layer: products of all steps at once where they do not depend on each
// other (the inputs', and all gradients of weights), one per step where they do, by oneDNN with the
// recurrent weights put into blocks once per call; the cells are loops of our own.
//
// Ownership: the registry given. Threads: one at a time. Errors: Internal where oneDNN refuses.
//
//   AddLstmKernels(&kernels);

#ifndef TRAINER_KERNELS_CPU_LSTM_KERNELS_H_
#define TRAINER_KERNELS_CPU_LSTM_KERNELS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas {

void AddLstmKernels(KernelRegistry* kernels);

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_LSTM_KERNELS_H_
