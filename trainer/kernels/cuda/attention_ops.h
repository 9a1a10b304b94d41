// Attention and its gradient: where products are in bfloat16 by a plan of the device
// (planned_attention.h), else products of heads by cuBLASLt, and softmax between them
// (attention.h), for a part of the scores at a time.
//
// Heads are columns of qkv and y and are multiplied where they lie. One batch of products has one
// distance from matrix to matrix, so it is of the heads of one example or of one head in all
// examples, whichever are more. To copy them apart would make it one batch, for 8 bytes more per
// element of qkv and y each way; scores, of which there are many times more, would not change.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h.

#ifndef TRAINER_KERNELS_CUDA_ATTENTION_OPS_H_
#define TRAINER_KERNELS_CUDA_ATTENTION_OPS_H_

#include <cstdint>

#include "trainer/graph/kernel_registry.h"
#include "trainer/kernels/cuda/block_sums.h"

namespace taas::cuda {

struct AttentionLimits {
  // Of a block, which for causal attention multiplies no further than its last query sees: of four
  // blocks that is 5/8 of all, and each is still large enough for a GPU.
  int64_t queries_max = 256;
  // Of scores that are made at a time, with their gradients: they stay in the L2 cache of an A100
  // (40 MB) or an H100 (50 MB) until the last product has read them.
  int64_t scores_bytes_max = 32 << 20;
  // A row of more is a block's.
  int64_t warp_keys_max = kWarpColumnsMax;
  // Where products are in bfloat16 and the device has a plan; else all are products.
  bool planned = true;
};

// Attention, AttentionGrad.
void AddAttentionKernels(KernelRegistry* kernels, const AttentionLimits& limits = {});

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_ATTENTION_OPS_H_
