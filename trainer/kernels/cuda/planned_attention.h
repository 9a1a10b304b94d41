// Attention in bfloat16 by the device's own plans (fused_attention.h: cuDNN), for attention_ops.
//
// Tensors are floats: queries, keys and values are rounded on the way in, where they lie in one
// tensor, and results are widened on the way out; backwards also y, whose bits come back as they
// were, and its gradient. That moves 6 bytes per element of each, beside attention without scores
// in memory.
//
// Ownership: the registry's. Threads: any. Errors: see kernel_registry.h.
//
//   if (std::optional<Kernel> planned = PlannedAttention(spec, shape)) return *std::move(planned);

#ifndef TRAINER_KERNELS_CUDA_PLANNED_ATTENTION_H_
#define TRAINER_KERNELS_CUDA_PLANNED_ATTENTION_H_

#include <cstdint>
#include <optional>

#include "trainer/graph/kernel_registry.h"
#include "trainer/kernels/cuda/fused_attention.h"
#include "trainer/kernels/cuda/gpu_device.h"

namespace taas::cuda {

// Of the scores' gradients, which a plan may keep: with what else it needs that stays below what a
// plan may want (256 MiB). It is what 8 examples of GPT-2 have.
inline constexpr int64_t kPlannedScoresBytesMax = 192 << 20;

// Of examples that are computed at a time: all, or for gradients a part that divides them.
int64_t ExamplesAtOnce(const AttentionShape& shape,
                       int64_t scores_bytes_max = kPlannedScoresBytesMax);

// The device's plan for an op with this shape of all examples, of which it may be for a part; null
// where it has none.
const AttentionPlan* PlanFor(GpuDevice& device, const AttentionShape& shape);

// Of the op with this shape of all examples. Nothing where products are not in bfloat16, or the
// device, if there is one, has no plan.
std::optional<Kernel> PlannedAttention(const KernelSpec& spec, const AttentionShape& shape);

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_PLANNED_ATTENTION_H_
