// One convolution by cuDNN: which of its engines computes it, and what it is given.
//
// A graph of one operation is described to the library, whose heuristics (mode A, then B) propose
// engines, best first. The first is taken that is deterministic, rounds no more than the run
// allows, needs no more workspace than kWorkspaceMax, and can be finalized. So the same shape on
// the same kind of GPU, with the same release, is computed in the same way, without measuring. What
// the library's third mode falls back on is not asked for: we have patches to fall back on.
//
// Ownership: borrows the Cudnn. Threads: as Cudnn's. Errors: as Cudnn's; Unimplemented where no
// engine fits, with what was wrong with each kind.
//
//   ASSIGN_OR_RETURN(const auto plan, CudnnConvPlan::Make(*cudnn, shape));
//   RETURN_IF_ERROR(plan->Launch(tensors, stream));

#ifndef TRAINER_CUDA_CONV_PLAN_H_
#define TRAINER_CUDA_CONV_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/cuda/cudnn.h"
#include "trainer/cuda/driver_api.h"
#include "trainer/kernels/cuda/convolution.h"

namespace taas::cuda {

// "outputs of 64 × 32 × 32 × 16 by 16 × 3 × 3 × 16 …": all that tells one shape from another.
std::string TextOf(const ConvShape& shape);

// Dimensions and strides as cuDNN counts them, in elements: of NCHW, whatever the order in memory.
struct CudnnTensorShape {
  std::array<int64_t, 4> dimensions{}, strides{};
};
struct CudnnConvShapes {
  CudnnTensorShape images, filters, outputs;
};
CudnnConvShapes ShapesOf(const ConvShape& shape);

// Why an engine with these notes (cudnnBackendNumericalNote_t) is not taken; "" where it is.
std::string_view WhyNotWith(std::span<const int> notes, bool tf32);

class CudnnConvPlan : public ConvPlan {
 public:
  // Of one operation at a time; all share it (memory_plan.h). What the heuristics of 9.28 put first
  // for the layers of ResNet-50 with 64 images, on an H100, wants 262 MB at most, and for tensor
  // cores mostly less than 2.
  static constexpr int64_t kWorkspaceMax = 256 << 20;

  static absl::StatusOr<std::unique_ptr<CudnnConvPlan>> Make(const Cudnn& cudnn,
                                                             const ConvShape& shape);
  // What Json gave on the same kind of device, with the same release.
  static absl::StatusOr<std::unique_ptr<CudnnConvPlan>> FromJson(const Cudnn& cudnn,
                                                                 std::string_view json);

  size_t workspace_bytes() const override { return workspace_bytes_; }
  absl::StatusOr<std::string> Json() const;
  // By a thread that has entered the device's context. Makes nothing on the device, so that a
  // capture allows it.
  absl::Status Launch(const ConvTensors& tensors, CuStream stream) const;

 private:
  CudnnConvPlan(const Cudnn& cudnn, CudnnDescriptor plan, size_t workspace_bytes)
      : cudnn_(cudnn), plan_(std::move(plan)), workspace_bytes_(workspace_bytes) {}
  // Of a finalized one.
  static absl::StatusOr<std::unique_ptr<CudnnConvPlan>> Of(const Cudnn& cudnn,
                                                           CudnnDescriptor plan);
  static absl::StatusOr<std::unique_ptr<CudnnConvPlan>> OfConfig(const Cudnn& cudnn,
                                                                 const CudnnDescriptor& config);

  const Cudnn& cudnn_;
  const CudnnDescriptor plan_;
  const size_t workspace_bytes_;
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_CONV_PLAN_H_
