// A graph of operations by cuDNN: which of its engines computes it, and what it is given.
//
// The library's heuristics (mode A, then B) propose engines, best first. The first is taken that is
// deterministic, rounds no more than the run allows, needs no more workspace than kWorkspaceMax,
// and can be finalized. So the same graph on the same kind of GPU, with the same release, is
// computed in the same way, without measuring. What the library's third mode falls back on is not
// asked for: we have kernels of our own to fall back on.
//
// Ownership: borrows the Cudnn. Threads: as Cudnn's. Errors: as Cudnn's; Unimplemented where no
// engine fits, with what was wrong with each kind.
//
//   ASSIGN_OR_RETURN(const auto plan, CudnnPlan::Make(*cudnn, graph, /*tensor_cores=*/true));
//   RETURN_IF_ERROR(plan->Launch("convolve", ids, pointers, workspace, stream));

#ifndef TRAINER_CUDA_CUDNN_PLAN_H_
#define TRAINER_CUDA_CUDNN_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/cuda/cudnn.h"
#include "trainer/cuda/driver_api.h"

namespace taas::cuda {

// Why an engine with these notes (cudnnBackendNumericalNote_t) is not taken; "" where it is.
std::string_view WhyNotWith(std::span<const int> notes, bool tensor_cores);

class CudnnPlan {
 public:
  // Of one graph at a time; all share it (memory_plan.h). What the heuristics of 9.28 put first for
  // the layers of ResNet-50 with 64 images, on an H100, wants 262 MB at most, and for tensor cores
  // mostly less than 2.
  static constexpr int64_t kWorkspaceMax = 256 << 20;

  static absl::StatusOr<std::unique_ptr<CudnnPlan>> Make(const Cudnn& cudnn,
                                                         const CudnnDescriptor& graph,
                                                         bool tensor_cores);
  // What Json gave on the same kind of device, with the same release.
  static absl::StatusOr<std::unique_ptr<CudnnPlan>> FromJson(const Cudnn& cudnn,
                                                             std::string_view json);

  size_t workspace_bytes() const { return workspace_bytes_; }
  absl::StatusOr<std::string> Json() const;
  // `what` is an infinitive; pointers of the tensors of these ids. By a thread that has entered the
  // device's context. Makes nothing on the device, so that a capture allows it.
  absl::Status Launch(std::string_view what, std::span<const int64_t> ids,
                      std::span<void* const> pointers, void* workspace, CuStream stream) const;

 private:
  CudnnPlan(const Cudnn& cudnn, CudnnDescriptor plan, size_t workspace_bytes)
      : cudnn_(cudnn), plan_(std::move(plan)), workspace_bytes_(workspace_bytes) {}
  // Of a finalized one.
  static absl::StatusOr<std::unique_ptr<CudnnPlan>> Of(const Cudnn& cudnn, CudnnDescriptor plan);
  static absl::StatusOr<std::unique_ptr<CudnnPlan>> OfConfig(const Cudnn& cudnn,
                                                             const CudnnDescriptor& config);

  const Cudnn& cudnn_;
  const CudnnDescriptor plan_;
  const size_t workspace_bytes_;
};

}  // namespace taas::cuda

#endif  // TRAINER_CUDA_CUDNN_PLAN_H_
