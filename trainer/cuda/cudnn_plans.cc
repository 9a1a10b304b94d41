#include "trainer/cuda/cudnn_plans.h"

#include <optional>

#include "absl/status/statusor.h"
#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas::cuda {
namespace {

// From which on the engine that the heuristics put first may add up the gradient of queries in any
// order, and does not say so: another one, with settings of its own, would have to be asked for.
constexpr int kMajorOfUnorderedGradients = 10;

absl::Status CheckDevice(const DeviceInfo&, const ConvShape&) { return absl::OkStatus(); }

absl::Status CheckDevice(const DeviceInfo& device, const AttentionShape& shape) {
  if (shape.part == AttentionPart::kOutputs || device.major < kMajorOfUnorderedGradients) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError("on a GPU of compute capability " +
                                  std::to_string(device.major) + "." +
                                  std::to_string(device.minor) +
                                  " its gradients may not be the same twice");
}

}  // namespace

const ConvPlan* CudnnPlans::PlanFor(const ConvShape& shape) {
  return PlanFor(shape, &convolutions_);
}

const AttentionPlan* CudnnPlans::PlanFor(const AttentionShape& shape) {
  return PlanFor(shape, &attentions_);
}

template <typename Shape, typename Plan>
const Plan* CudnnPlans::PlanFor(const Shape& shape, Kind<Shape, Plan>* kind) {
  const std::lock_guard lock(mutex_);
  if (!loaded_) Load();
  if (!kind->told) Tell(kind->words);
  kind->told = true;
  if (cudnn_ == nullptr) return nullptr;
  const auto [place, is_new] = kind->plans.try_emplace(shape);
  if (is_new) {
    absl::StatusOr<std::unique_ptr<Plan>> plan = MakePlan<Plan>(shape, kind->words);
    if (plan.ok()) {
      place->second = *std::move(plan);
    } else {
      Log(LogLevel::kInfo, std::string(kind->words.one) + " computed by " + kind->words.other_ways,
          {{kind->words.name, TextOf(shape)}, {"why", std::string(plan.status().message())}});
    }
  }
  return place->second.get();
}

void CudnnPlans::Load() {
  loaded_ = true;
  absl::StatusOr<std::unique_ptr<Cudnn>> cudnn = Cudnn::Load(options_.library);
  why_not_ = cudnn.status();
  if (cudnn.ok()) cudnn_ = *std::move(cudnn);
}

void CudnnPlans::Tell(const Words& words) const {
  if (cudnn_ == nullptr) {
    Log(LogLevel::kInfo, std::string(words.all) + " computed by " + words.other_ways,
        {{"device", device_.name}, {"why", std::string(why_not_.message())}});
    return;
  }
  Log(LogLevel::kInfo, std::string(words.all) + " computed by cuDNN",
      {{"device", device_.name},
       {"version", LibraryVersion(cudnn_->version())},
       {"library", cudnn_->path()}});
}

template <typename Plan, typename Shape>
absl::StatusOr<std::unique_ptr<Plan>> CudnnPlans::MakePlan(const Shape& shape,
                                                           const Words& words) const {
  RETURN_IF_ERROR(CheckDevice(device_, shape));
  const std::string key = KeyOf(TextOf(shape));
  if (const std::optional<std::string> json = store_.Read(key)) {
    auto plan = Plan::FromJson(*cudnn_, shape, *json);
    if (plan.ok()) return plan;
    Log(LogLevel::kWarning, "cuDNN refuses a plan that was kept; it is made anew",
        {{"file", store_.PathOf(key)}, {"why", std::string(plan.status().message())}});
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Plan> plan, Plan::Make(*cudnn_, shape));
  if (options_.folder.empty()) return plan;
  if (const absl::StatusOr<std::string> json = plan->Json(); json.ok()) {
    store_.Write(key, *json);
  } else {
    Log(LogLevel::kWarning, "a plan cannot be kept; the next process makes it anew",
        {{words.name, TextOf(shape)}, {"why", std::string(json.status().message())}});
  }
  return plan;
}

// Cards of one name differ in nothing that a plan depends on, but for slices (MIG).
std::string CudnnPlans::KeyOf(const std::string& shape) const {
  return "cuDNN " + LibraryVersion(cudnn_->version()) + ", CUDA " + ReleaseOf(driver_) + ", " +
         device_.name + " " + std::to_string(device_.major) + "." +
         std::to_string(device_.minor) + " of " + std::to_string(device_.multiprocessors) +
         " multiprocessors, workspace " + std::to_string(CudnnPlan::kWorkspaceMax) + ", " + shape;
}

absl::Status CudnnPlans::Launch(const ConvPlan& plan, const ConvTensors& tensors,
                                CuStream stream) {
  const std::lock_guard lock(mutex_);
  return static_cast<const CudnnConvPlan&>(plan).Launch(tensors, stream);
}

absl::Status CudnnPlans::Launch(const AttentionPlan& plan, const AttentionTensors& tensors,
                                CuStream stream) {
  const std::lock_guard lock(mutex_);
  return static_cast<const CudnnAttentionPlan&>(plan).Launch(tensors, stream);
}

void CudnnPlans::Abandon() {
  const std::lock_guard lock(mutex_);
  for (auto& [shape, plan] : convolutions_.plans) static_cast<void>(plan.release());
  for (auto& [shape, plan] : attentions_.plans) static_cast<void>(plan.release());
  static_cast<void>(cudnn_.release());
}

}  // namespace taas::cuda
