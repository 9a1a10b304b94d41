#include "trainer/cuda/conv_plans.h"

#include <optional>

#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas::cuda {

const ConvPlan* ConvPlans::PlanFor(const ConvShape& shape) {
  const std::lock_guard lock(mutex_);
  if (!loaded_) Load();
  if (cudnn_ == nullptr) return nullptr;
  const auto [place, is_new] = plans_.try_emplace(shape);
  if (is_new) {
    absl::StatusOr<std::unique_ptr<CudnnConvPlan>> plan = Plan(shape);
    if (plan.ok()) {
      place->second = *std::move(plan);
    } else {
      Log(LogLevel::kInfo, "a convolution is computed by patches and cuBLASLt",
          {{"convolution", TextOf(shape)}, {"why", std::string(plan.status().message())}});
    }
  }
  return place->second.get();
}

void ConvPlans::Load() {
  loaded_ = true;
  absl::StatusOr<std::unique_ptr<Cudnn>> cudnn = Cudnn::Load(options_.library);
  if (cudnn.ok()) {
    cudnn_ = *std::move(cudnn);
    Log(LogLevel::kInfo, "convolutions are computed by cuDNN",
        {{"device", device_.name},
         {"version", LibraryVersion(cudnn_->version())},
         {"library", cudnn_->path()}});
    return;
  }
  Log(LogLevel::kInfo, "convolutions are computed by patches and cuBLASLt",
      {{"device", device_.name}, {"why", std::string(cudnn.status().message())}});
}

absl::StatusOr<std::unique_ptr<CudnnConvPlan>> ConvPlans::Plan(const ConvShape& shape) const {
  const std::string key = KeyOf(shape);
  if (const std::optional<std::string> json = store_.Read(key)) {
    auto plan = CudnnConvPlan::FromJson(*cudnn_, *json);
    if (plan.ok()) return plan;
    Log(LogLevel::kWarning, "cuDNN refuses a plan that was kept; it is made anew",
        {{"file", store_.PathOf(key)}, {"why", std::string(plan.status().message())}});
  }
  ASSIGN_OR_RETURN(std::unique_ptr<CudnnConvPlan> plan, CudnnConvPlan::Make(*cudnn_, shape));
  if (options_.folder.empty()) return plan;
  if (const absl::StatusOr<std::string> json = plan->Json(); json.ok()) {
    store_.Write(key, *json);
  } else {
    Log(LogLevel::kWarning, "a plan cannot be kept; the next process makes it anew",
        {{"convolution", TextOf(shape)}, {"why", std::string(json.status().message())}});
  }
  return plan;
}

// Cards of one name differ in nothing that a plan depends on, but for slices (MIG).
std::string ConvPlans::KeyOf(const ConvShape& shape) const {
  return "cuDNN " + LibraryVersion(cudnn_->version()) + ", CUDA " + ReleaseOf(driver_) + ", " +
         device_.name + " " + std::to_string(device_.major) + "." +
         std::to_string(device_.minor) + " of " + std::to_string(device_.multiprocessors) +
         " multiprocessors, workspace " + std::to_string(CudnnConvPlan::kWorkspaceMax) + ", " +
         TextOf(shape);
}

absl::Status ConvPlans::Launch(const ConvPlan& plan, const ConvTensors& tensors,
                               CuStream stream) {
  const std::lock_guard lock(mutex_);
  return static_cast<const CudnnConvPlan&>(plan).Launch(tensors, stream);
}

void ConvPlans::Abandon() {
  const std::lock_guard lock(mutex_);
  for (auto& [shape, plan] : plans_) static_cast<void>(plan.release());
  static_cast<void>(cudnn_.release());
}

}  // namespace taas::cuda
