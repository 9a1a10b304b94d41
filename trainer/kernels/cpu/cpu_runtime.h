// The processors of this machine as what sessions compute with.
//
// Ownership: its device and kernels live as long as the program. Threads: any. Errors: none.
//
//   ASSIGN_OR_RETURN(auto session, Session::Compile(CpuRuntime(), graph, {.loss = "loss"}));

#ifndef TRAINER_KERNELS_CPU_CPU_RUNTIME_H_
#define TRAINER_KERNELS_CPU_CPU_RUNTIME_H_

#include "trainer/graph/runtime.h"

namespace taas {

// CPU:0, with the kernels of this tree.
Runtime CpuRuntime();

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_CPU_RUNTIME_H_
