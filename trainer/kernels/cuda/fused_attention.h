// Attention in bfloat16 by a library that plans it beforehand and keeps no scores in memory: what
// it is asked for and what it answers (trainer/cuda has cuDNN).
//
// Ownership: a plan is its device's, and stays as long as that. Threads: any, but a stream's own.
// Errors: the stream's.
//
//   const AttentionPlan* const plan = device.PlanAttention(shape);
//   … plan->workspace_bytes() …
//   RETURN_IF_ERROR(stream.Attend(*plan, {.qkv = qkv, .y = y, .log_sums = sums, …}));

#ifndef TRAINER_KERNELS_CUDA_FUSED_ATTENTION_H_
#define TRAINER_KERNELS_CUDA_FUSED_ATTENTION_H_

#include <compare>
#include <cstddef>
#include <cstdint>

namespace taas::cuda {

// y and log sums from qkv; dqkv from dy, qkv, y and log sums.
enum class AttentionPart : uint8_t { kOutputs, kGradients };

// y = softmax(Q Kᵀ / √head) V of each head, where a causal query sees no later key. Queries, keys
// and values lie in one tensor.
struct AttentionShape {
  AttentionPart part = AttentionPart::kOutputs;
  int64_t examples = 0, steps = 0, heads = 0;
  int64_t head = 0;  // Numbers of each.
  bool causal = true;

  int64_t width() const { return heads * head; }
  auto operator<=>(const AttentionShape&) const = default;
};

// A way for one shape, on one device.
class AttentionPlan {
 public:
  virtual ~AttentionPlan() = default;
  virtual size_t workspace_bytes() const = 0;
};

// Dense, of bfloat16, each at a multiple of kAttentionAlignment bytes: qkv and dqkv of [examples,
// steps, 3, heads, head], y and dy of [examples, steps, heads, head]. log_sums are floats of
// [examples, heads, steps]: log Σ exp of the scaled scores that a query sees. What is computed is
// written whole. Gradients: all but workspace are needed.
inline constexpr int64_t kAttentionAlignment = 16;
struct AttentionTensors {
  void* qkv = nullptr;
  void* y = nullptr;
  void* log_sums = nullptr;
  void* dy = nullptr;
  void* dqkv = nullptr;
  void* workspace = nullptr;
};

}  // namespace taas::cuda

#endif  // TRAINER_KERNELS_CUDA_FUSED_ATTENTION_H_
