#include "trainer/testing/device_hub.h"

#include <iterator>
#include <span>

#include "operator/base/check.h"
#include "operator/base/status.h"

namespace taas {

std::string DeviceHub::DrawId() {
  const std::lock_guard lock(mutex_);
  return "group " + std::to_string(++ids_);
}

void DeviceHub::Form(const std::string& id) {
  With(id, [](Group& group) { ++group.formed; });
}

int DeviceHub::formed(const std::string& id) {
  return With(id, [](const Group& group) { return group.formed; });
}

void DeviceHub::Bring(const std::string& id, size_t round, int rank, std::vector<float> values) {
  With(id, [&](Group& group) { group.brought[round][rank] = std::move(values); });
}

std::vector<float> DeviceHub::MeanOf(const std::string& id, size_t round, int ranks) {
  return With(id, [&](Group& group) {
    std::vector<float> mean;
    const auto& brought = group.brought[round];
    if (std::ssize(brought) < ranks) return mean;
    for (const auto& [rank, values] : brought) {
      mean.resize(values.size());
      for (size_t i = 0; i < values.size(); ++i) {
        mean[i] += values[i] / static_cast<float>(ranks);
      }
    }
    return mean;
  });
}

absl::StatusOr<std::string> HubDevice::DrawId() {
  if (!draws) return absl::UnavailableError("draw an id: no network");
  return hub_.DrawId();
}

absl::Status HubDevice::Form(const Ranks& ranks) {
  CHECK(!in_group_) << "a group that was not left";
  ranks_ = ranks;
  in_group_ = true;
  stage_ = Stage::kForms;
  round_ = 0;
  if (!forms) return absl::UnavailableError("become a rank: no space in /dev/shm");
  if (joins) hub_.Form(ranks.id);
  return absl::OkStatus();
}

absl::Status HubDevice::Launch(const TensorRef& values, bool) {
  CHECK(stage_ == Stage::kReady) << "a mean before the last has ended";
  values_ = values;
  stage_ = Stage::kBegun;
  ++round_;
  brought_ = false;
  return absl::OkStatus();
}

absl::StatusOr<DeviceGroup::Stage> HubDevice::Look() {
  CHECK(in_group_) << "a look at no group";
  on_look();
  {
    const std::lock_guard lock(mutex_);
    RETURN_IF_ERROR(failure_);
  }
  if (stage_ == Stage::kForms && hub_.formed(ranks_.id) == ranks_.ranks) {
    stage_ = Stage::kReady;
    ++formed_;
  }
  if (stage_ == Stage::kBegun && comes) stage_ = Stage::kWaits;
  if (stage_ != Stage::kWaits || !passes) return stage_;
  if (!std::exchange(brought_, true)) {
    std::vector<float> values(values_.count());
    RETURN_IF_ERROR(values_.Read(std::span(values)));
    hub_.Bring(ranks_.id, round_, ranks_.rank, std::move(values));
  }
  const std::vector<float> mean = hub_.MeanOf(ranks_.id, round_, ranks_.ranks);
  if (mean.empty()) return stage_;
  RETURN_IF_ERROR(values_.Write(std::span<const float>(mean)));
  ++means_;
  stage_ = Stage::kReady;
  return stage_;
}

}  // namespace taas
