#include "trainer/cuda/cudnn_plan.h"

#include <map>
#include <vector>

#include "operator/base/status.h"
#include "trainer/graph/short_text.h"

namespace taas::cuda {
namespace {

// What the heuristics propose, best first: 40 at most, in 9.28 on an H100.
constexpr int64_t kConfigsMax = 64;

// Best first.
absl::StatusOr<std::vector<CudnnDescriptor>> ConfigsOf(const Cudnn& cudnn,
                                                       const CudnnDescriptor& graph, int mode) {
  CudnnDescriptor heuristics(cudnn, CudnnType::kHeuristics);
  RETURN_IF_ERROR(heuristics.SetDescriptor(CudnnAttribute::kHeuristicsGraph, graph));
  RETURN_IF_ERROR(
      heuristics.SetEnum(CudnnAttribute::kHeuristicsMode, kCudnnOfHeuristicsMode, mode));
  RETURN_IF_ERROR(heuristics.Finalize());
  return heuristics.GetDescriptors(CudnnAttribute::kHeuristicsResults, CudnnType::kEngineConfig,
                                   kConfigsMax);
}

absl::StatusOr<std::string_view> WhyNot(const CudnnDescriptor& config, bool tensor_cores) {
  ASSIGN_OR_RETURN(const std::vector<CudnnDescriptor> engines,
                   config.GetDescriptors(CudnnAttribute::kEngineConfigEngine, CudnnType::kEngine,
                                         1));
  if (engines.empty()) return "of no engine";
  ASSIGN_OR_RETURN(const std::vector<int> notes,
                   engines[0].GetNotes(CudnnAttribute::kEngineNotes));
  return WhyNotWith(notes, tensor_cores);
}

}  // namespace

std::string_view WhyNotWith(std::span<const int> notes, bool tensor_cores) {
  for (const int note : notes) {
    switch (note) {
      case kCudnnNotDeterministic: return "not deterministic";
      // Sums of floats are floats.
      case kCudnnReducedPrecisionSums: return "sums of less than float32";
      // To half precision, whose range is another one.
      case kCudnnDownConvertsInputs: return "rounds inputs";
      case kCudnnTensorCore:
        if (!tensor_cores) return "tensor cores";
        break;
      // Their sums are a hundred times as far off as those of plain products.
      case kCudnnWinograd4x4:
      case kCudnnWinograd6x6:
      case kCudnnWinograd13x13: return "large Winograd tiles";
      default: break;
    }
  }
  return "";
}

absl::StatusOr<std::unique_ptr<CudnnPlan>> CudnnPlan::Of(const Cudnn& cudnn,
                                                         CudnnDescriptor plan) {
  ASSIGN_OR_RETURN(const int64_t bytes, plan.GetInt(CudnnAttribute::kPlanWorkspaceSize));
  if (bytes < 0 || bytes > kWorkspaceMax) {
    return absl::UnimplementedError("wants " + BytesText(static_cast<size_t>(bytes)) +
                                    " of workspace");
  }
  return std::unique_ptr<CudnnPlan>(
      new CudnnPlan(cudnn, std::move(plan), static_cast<size_t>(bytes)));
}

absl::StatusOr<std::unique_ptr<CudnnPlan>> CudnnPlan::OfConfig(
    const Cudnn& cudnn, const CudnnDescriptor& config) {
  CudnnDescriptor plan(cudnn, CudnnType::kPlan);
  RETURN_IF_ERROR(plan.SetHandle(CudnnAttribute::kPlanHandle));
  RETURN_IF_ERROR(plan.SetDescriptor(CudnnAttribute::kPlanEngineConfig, config));
  RETURN_IF_ERROR(plan.Finalize());
  return Of(cudnn, std::move(plan));
}

absl::StatusOr<std::unique_ptr<CudnnPlan>> CudnnPlan::Make(const Cudnn& cudnn,
                                                           const CudnnDescriptor& graph,
                                                           bool tensor_cores) {
  std::map<std::string, int> reasons;  // How many engines each has ruled out.
  for (const int mode : {kCudnnHeuristicsA, kCudnnHeuristicsB}) {
    const auto configs = ConfigsOf(cudnn, graph, mode);
    if (!configs.ok()) {
      ++reasons[std::string(configs.status().message())];
      continue;
    }
    for (const CudnnDescriptor& config : *configs) {
      const absl::StatusOr<std::string_view> why = WhyNot(config, tensor_cores);
      if (!why.ok() || !why->empty()) {
        ++reasons[why.ok() ? std::string(*why) : std::string(why.status().message())];
        continue;
      }
      auto plan = OfConfig(cudnn, config);
      if (plan.ok()) return plan;
      ++reasons[std::string(plan.status().message())];
    }
  }
  std::string text = "no engine of cuDNN " + LibraryVersion(cudnn.version()) + " fits";
  if (reasons.empty()) text += ": none is proposed";
  const char* between = ": ";
  for (const auto& [reason, count] : reasons) {
    text += between + reason + " (" + std::to_string(count) + ")";
    between = "; ";
  }
  return absl::UnimplementedError(text);
}

absl::StatusOr<std::unique_ptr<CudnnPlan>> CudnnPlan::FromJson(const Cudnn& cudnn,
                                                               std::string_view json) {
  CudnnDescriptor plan(cudnn, CudnnType::kPlan);
  RETURN_IF_ERROR(plan.SetHandle(CudnnAttribute::kPlanHandle));
  RETURN_IF_ERROR(plan.SetText(CudnnAttribute::kPlanJson, json));
  RETURN_IF_ERROR(plan.Finalize());
  return Of(cudnn, std::move(plan));
}

absl::StatusOr<std::string> CudnnPlan::Json() const {
  return plan_.GetText(CudnnAttribute::kPlanJson);
}

absl::Status CudnnPlan::Launch(std::string_view what, std::span<const int64_t> ids,
                               std::span<void* const> pointers, void* workspace,
                               CuStream stream) const {
  CudnnDescriptor pack(cudnn_, CudnnType::kVariantPack);
  RETURN_IF_ERROR(pack.SetInts(CudnnAttribute::kPackIds, ids));
  RETURN_IF_ERROR(pack.SetPointers(CudnnAttribute::kPackPointers, pointers));
  RETURN_IF_ERROR(pack.SetPointers(CudnnAttribute::kPackWorkspace, {&workspace, 1}));
  RETURN_IF_ERROR(pack.Finalize());
  RETURN_IF_ERROR(
      cudnn_.Check("set the stream", cudnn_.api().SetStream(cudnn_.handle(), stream)));
  return cudnn_.Check(
      what, cudnn_.api().BackendExecute(cudnn_.handle(), plan_.handle(), pack.handle()));
}

}  // namespace taas::cuda
