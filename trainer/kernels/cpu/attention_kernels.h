// CPU kernels of attention, over blocks of queries: the scores of a block stay in the second cache
// and are computed again backwards from the logarithm of their sums, as in FlashAttention (Dao et
// al. 2022), so that no matrix of steps × steps is ever in memory. Keys that a causal block does
// not see are left out.
//
// Ownership: the registry given. Threads: one at a time; heads are shared out among a call's
// threads. Errors: those of gemm.h.
//
//   AddAttentionKernels(&kernels);

#ifndef TRAINER_KERNELS_CPU_ATTENTION_KERNELS_H_
#define TRAINER_KERNELS_CPU_ATTENTION_KERNELS_H_

#include "trainer/graph/kernel_registry.h"

namespace taas {

void AddAttentionKernels(KernelRegistry* kernels);

}  // namespace taas

#endif  // TRAINER_KERNELS_CPU_ATTENTION_KERNELS_H_
