// One attention by cuDNN in bfloat16, or its gradients: a graph of operations, by the engine that
// cudnn_plan.h takes. Which graphs, and why these: docs/design/0020-gpus.md.
//
// Forwards: the operation "scaled dot-product attention", with a mask in the graph that it has
// between scale and softmax. Backwards: products, sums and functions that the library knows as one
// pattern. The gradient of the queries is the result of a product, and not of additions in any
// order: that takes the scores' gradients as workspace, and is the same each time.
//
// Ownership: borrows the Cudnn. Threads: as Cudnn's. Errors: as CudnnPlan's; Unimplemented for a
// shape that no release knows.
//
//   ASSIGN_OR_RETURN(const auto plan, CudnnAttentionPlan::Make(*cudnn, shape));
//   RETURN_IF_ERROR(plan->Launch(tensors, stream));

#ifndef TRAINER_CUDA_ATTENTION_PLAN_H_
#define TRAINER_CUDA_ATTENTION_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/cuda/cudnn.h"
#include "trainer/cuda/cudnn_plan.h"
#include "trainer/cuda/driver_api.h"
#include "trainer/kernels/cuda/fused_attention.h"

namespace taas::cuda {

// From which on masks and statistics are parts of the operation.
inline constexpr int kCudnnAttentionVersionMin = 92'100;

// "gradients: 8 × 1024 steps × 12 heads of 64, causal, bfloat16": all that tells one shape from
// another.
std::string TextOf(const AttentionShape& shape);

// [examples, heads, steps, head], whatever the order in memory.
struct CudnnAttentionShapes {
  CudnnTensorShape of_qkv;  // Queries, keys, values; from where each begins.
  CudnnTensorShape of_y;
  CudnnTensorShape scores, rows;  // Of floats: a number for each key, one for each query.
};
CudnnAttentionShapes ShapesOf(const AttentionShape& shape);

class CudnnAttentionPlan : public AttentionPlan {
 public:
  CudnnAttentionPlan(const AttentionShape& shape, std::unique_ptr<CudnnPlan> plan);

  static absl::StatusOr<std::unique_ptr<CudnnAttentionPlan>> Make(const Cudnn& cudnn,
                                                                  const AttentionShape& shape);
  // What Json gave of the same shape on the same kind of device, with the same release.
  static absl::StatusOr<std::unique_ptr<CudnnAttentionPlan>> FromJson(const Cudnn& cudnn,
                                                                      const AttentionShape& shape,
                                                                      std::string_view json);

  // With what a gradient keeps between its operations.
  size_t workspace_bytes() const override { return sums_bytes_ + plan_->workspace_bytes(); }
  absl::StatusOr<std::string> Json() const { return plan_->Json(); }
  // By a thread that has entered the device's context. Makes nothing on the device, so that a
  // capture allows it.
  absl::Status Launch(const AttentionTensors& tensors, CuStream stream) const;

 private:
  const AttentionShape shape_;
  const float scale_;
  const size_t sums_bytes_;  // Of Σ dy y of each query.
  const std::unique_ptr<CudnnPlan> plan_;
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_ATTENTION_PLAN_H_
