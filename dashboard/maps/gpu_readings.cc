#include "dashboard/maps/gpu_readings.h"

#include <algorithm>
#include <optional>

#include "dashboard/training/answering_replicas.h"
#include "operator/api/json_field.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

// No machine has more, and an id of NVIDIA's has 40 bytes.
constexpr size_t kDevicesMax = 64;
constexpr size_t kIdBytesMax = 128;

// What slows a device down, as docs/contract.md spells it; the page has words for these.
constexpr std::string_view kThrottles[] = {"PowerCap",     "Heat",      "HardwareHeat",
                                           "PowerBrake",   "SyncBoost", "HardwareSlowdown"};

template <typename Number>
std::optional<Number> NumberOf(const Json& object, const char* key) {
  std::optional<Number> number;
  return JsonField(&object, "")[key].Read(&number).ok() ? number : std::nullopt;
}

// Nothing: it does not tell. Each word once; those that are none are left out.
std::optional<std::vector<std::string>> ThrottleOf(const Json& device) {
  const auto list = device.find("throttle");
  if (list == device.end() || !list->is_array()) return std::nullopt;
  std::vector<std::string> words;
  for (const std::string_view word : kThrottles) {
    if (std::find(list->begin(), list->end(), Json(word)) != list->end()) words.emplace_back(word);
  }
  return words;
}

std::optional<DeviceReading> ReadDevice(const Json& device, bool by_index) {
  if (!device.is_object()) return std::nullopt;
  DeviceReading reading{.id = TextOf(device, "id"),
                        .utilization = NumberOf<double>(device, "utilization"),
                        .memory_used_mib = NumberOf<int64_t>(device, "memoryUsedMiB"),
                        .memory_total_mib = NumberOf<int64_t>(device, "memoryTotalMiB"),
                        .power_watts = NumberOf<double>(device, "powerWatts"),
                        .power_limit_watts = NumberOf<double>(device, "powerLimitWatts"),
                        .temperature_c = NumberOf<int64_t>(device, "temperatureC"),
                        .throttle = ThrottleOf(device),
                        .ecc_uncorrected = NumberOf<int64_t>(device, "eccUncorrected")};
  if (by_index) {
    const auto index = NumberOf<int64_t>(device, "index");
    reading.id = index.has_value() ? std::to_string(*index) : "";
  }
  if (reading.id.empty() || reading.id.size() > kIdBytesMax) return std::nullopt;
  return reading;
}

std::vector<DeviceReading> ReadDevices(const Json& replica, bool by_index) {
  std::vector<DeviceReading> out;
  const auto gpus = replica.find("gpus");
  if (gpus == replica.end() || !gpus->is_array()) return out;
  for (const Json& device : *gpus) {
    if (out.size() >= kDevicesMax) break;
    if (auto reading = ReadDevice(device, by_index)) out.push_back(*std::move(reading));
  }
  return out;
}

}  // namespace

absl::StatusOr<GpuPage> ReadGpuPage(std::string_view body, bool by_index) {
  ASSIGN_OR_RETURN(const Json page, ParseJsonObject(body));
  GpuPage out{.own = ReadDevices(page, by_index), .peers = {}};
  const auto peers = page.find("peers");
  if (peers == page.end() || !peers->is_array()) return out;
  for (const Json& peer : *peers) {
    if (!peer.is_object()) continue;
    const std::optional<Role> role = RoleFromName(TextOf(peer, "role"));
    const auto index = NumberOf<int32_t>(peer, "index");
    std::vector<DeviceReading> devices = ReadDevices(peer, by_index);
    if (!role.has_value() || !index.has_value() || devices.empty()) continue;
    out.peers.push_back({*role, *index, std::move(devices)});
  }
  return out;
}

GpuReadings::~GpuReadings() {
  if (timer_ != 0) context_.executor.Cancel(timer_);
}

void GpuReadings::Look() {
  looked_at_ = context_.executor.clock().Now();
  if (!std::exchange(running_, true)) Begin();
}

const std::vector<DeviceReading>* GpuReadings::Of(const WatchedPod& pod) const {
  const auto found = entries_.find(pod.meta.uid);
  if (found == entries_.end()) return nullptr;
  const Clock::Duration age = context_.executor.clock().Now() - found->second.at;
  return age <= kGood ? &found->second.devices : nullptr;
}

void GpuReadings::Begin() {
  timer_ = 0;
  const Clock::Time now = context_.executor.clock().Now();
  if (now - looked_at_ > kWatched) {
    running_ = false;
    return;
  }
  std::erase_if(silent_, [now](const auto& one) { return now - one.second >= kSilent; });
  for (GpuJob& of_now : context_.jobs()) {
    const auto job = std::make_shared<const GpuJob>(std::move(of_now));
    const AnsweringReplicas replicas = FindAnsweringReplicas(*job->job, job->pods);
    for (const PodPtr& pod : {replicas.main, replicas.evaluator}) {
      if (pod != nullptr && !silent_.contains(pod->meta.uid)) questions_.push_back({job, pod});
    }
  }
  AskNext();
}

void GpuReadings::AskNext() {
  while (asking_ < kAtOnce && !questions_.empty()) {
    Question question = std::move(questions_.front());
    questions_.pop_front();
    ++asking_;
    const WatchedPod& pod = *question.pod;
    context_.transport.Get(pod.ip, pod.status_port, "/status",
                           [this, question, alive = std::weak_ptr<bool>(alive_)](
                               const absl::StatusOr<std::string>& body) {
                             if (alive.lock() == nullptr) return;
                             OnAnswer(question, body);
                             --asking_;
                             AskNext();
                           });
  }
  if (asking_ == 0 && timer_ == 0) Finish();
}

void GpuReadings::OnAnswer(const Question& question, const absl::StatusOr<std::string>& body) {
  absl::StatusOr<GpuPage> page = body.ok() ? ReadGpuPage(*body, context_.local)
                                           : absl::StatusOr<GpuPage>(body.status());
  if (!page.ok()) {
    silent_[question.pod->meta.uid] = context_.executor.clock().Now();
    return;
  }
  Take(*question.pod, std::move(page->own));
  for (GpuPage::Peer& peer : page->peers) {
    for (const PodPtr& pod : question.job->pods) {
      const bool is_it = pod->role == peer.role && pod->index == peer.index && pod != question.pod;
      if (is_it && pod->phase == PodPhase::kRunning) Take(*pod, std::move(peer.devices));
    }
  }
}

void GpuReadings::Take(const WatchedPod& pod, std::vector<DeviceReading> devices) {
  if (devices.empty() || pod.gpus <= 0) return;
  Entry& entry = entries_[pod.meta.uid];
  entry.at = context_.executor.clock().Now();
  if (entry.devices == devices) return;
  entry.devices = std::move(devices);
  changed_ = true;
}

void GpuReadings::Finish() {
  const Clock::Time now = context_.executor.clock().Now();
  const size_t old = std::erase_if(
      entries_, [now](const auto& one) { return now - one.second.at > kGood; });
  timer_ = context_.executor.PostAfter(kEvery, [this] { Begin(); });
  if (std::exchange(changed_, false) || old > 0) context_.changed();
}

GpuUse UseOf(const std::vector<DeviceReading>* devices) {
  GpuUse use;
  if (devices == nullptr) return use;
  int busy_known = 0;
  for (const DeviceReading& device : *devices) {
    if (device.utilization.has_value()) {
      use.busy = use.busy.value_or(0) + *device.utilization;
      ++busy_known;
    }
    if (device.memory_used_mib.has_value()) {
      use.memory_mib = use.memory_mib.value_or(0) + static_cast<double>(*device.memory_used_mib);
    }
  }
  if (busy_known > 0) *use.busy /= busy_known;
  return use;
}

std::vector<GpuReadings::GpuJob> GpuJobsOf(const ClusterCache& cache) {
  std::vector<GpuReadings::GpuJob> out;
  for (const auto& job : cache.Jobs()) {
    if (job->ended()) continue;
    auto pods = cache.PodsOf(*job);
    const auto holds = [](const auto& pod) { return pod->gpus > 0 && !HasStopped(*pod); };
    if (std::any_of(pods.begin(), pods.end(), holds)) out.push_back({job, std::move(pods)});
  }
  return out;
}

}  // namespace taas::dashboard
