// One convolution by cuDNN: a graph of one operation, by the engine that cudnn_plan.h takes.
//
// Ownership: borrows the Cudnn. Threads: as Cudnn's. Errors: as CudnnPlan's.
//
//   ASSIGN_OR_RETURN(const auto plan, CudnnConvPlan::Make(*cudnn, shape));
//   RETURN_IF_ERROR(plan->Launch(tensors, stream));

#ifndef TRAINER_CUDA_CONV_PLAN_H_
#define TRAINER_CUDA_CONV_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/cuda/cudnn.h"
#include "trainer/cuda/cudnn_plan.h"
#include "trainer/cuda/driver_api.h"
#include "trainer/kernels/cuda/convolution.h"

namespace taas::cuda {

// "outputs of 64 × 32 × 32 × 16 by 16 × 3 × 3 × 16 …": all that tells one shape from another.
std::string TextOf(const ConvShape& shape);

// Of NCHW, whatever the order in memory.
struct CudnnConvShapes {
  CudnnTensorShape images, filters, outputs;
};
CudnnConvShapes ShapesOf(const ConvShape& shape);

class CudnnConvPlan : public ConvPlan {
 public:
  explicit CudnnConvPlan(std::unique_ptr<CudnnPlan> plan) : plan_(std::move(plan)) {}

  static absl::StatusOr<std::unique_ptr<CudnnConvPlan>> Make(const Cudnn& cudnn,
                                                             const ConvShape& shape);
  // What Json gave of the same shape on the same kind of device, with the same release.
  static absl::StatusOr<std::unique_ptr<CudnnConvPlan>> FromJson(const Cudnn& cudnn,
                                                                 const ConvShape& shape,
                                                                 std::string_view json);

  size_t workspace_bytes() const override { return plan_->workspace_bytes(); }
  absl::StatusOr<std::string> Json() const { return plan_->Json(); }
  // By a thread that has entered the device's context. Makes nothing on the device, so that a
  // capture allows it.
  absl::Status Launch(const ConvTensors& tensors, CuStream stream) const;

 private:
  const std::unique_ptr<CudnnPlan> plan_;
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_CONV_PLAN_H_
