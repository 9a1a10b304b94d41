// The kernel of "Fused": a chain of elementwise ops, block by block.
//
// A block of each operand is small enough that what lies between the ops stays in the first cache;
// memory is read and written once for the whole chain, and the loops are those of the ops alone,
// so the bits are too.
//
// Ownership, threads, errors: see kernel_registry.h; a program that is none is refused.
//
//   AddFusedKernels(&kernels);

#ifndef TRAINER_KERNELS_CPU_FUSED_KERNELS_H_
#define TRAINER_KERNELS_CPU_FUSED_KERNELS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas {

void AddFusedKernels(KernelRegistry* kernels);

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_FUSED_KERNELS_H_
