// How the CPU's kernels tell what is wrong with the data.
//
// Ownership: none. Threads: any. Errors: none.
//
//   Report(call, {.kind = Fault::Kind::kLabel, .at = row, …});

#ifndef TRAINER_KERNELS_CPU_REPORT_H_
#define TRAINER_KERNELS_CPU_REPORT_H_

#include "trainer/graph/kernel_registry.h"
#include "trainer/graph/step_block.h"

namespace taas {

// Keeps it if it is the first by the order of the kernels.
void Report(const KernelCall& call, Fault fault);

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_REPORT_H_
