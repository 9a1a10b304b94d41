#include "dashboard/maps/gpu_view.h"

#include <algorithm>
#include <deque>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "dashboard/server/health.h"
#include "dashboard/maps/view_text.h"
#include "operator/api/dialect.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

// 1 TB: no device has more memory, and a label may say anything.
constexpr int64_t kMemoryMibMax = 1'048'576;
// 100 kW and a billion errors: beyond what any device has.
constexpr double kWattsMax = 1e5;
constexpr int64_t kErrorsMax = 1'000'000'000;
constexpr int64_t kColdest = -100, kHottest = 500;
// Of a local node's product label: there is no such device.
constexpr std::string_view kSimulated = "simulated";

std::optional<JobKind> KindOf(std::string_view kind_name) {
  for (const JobKind kind : {JobKind::kTrainingJob, JobKind::kTfJob}) {
    if (DialectOf(kind).kind_name == kind_name) return kind;
  }
  return std::nullopt;
}

std::string_view RoleOf(const WatchedJob& job, Role role) {
  for (const WatchedRole& of_job : job.roles) {
    if (of_job.role == role) return of_job.name;
  }
  return RoleName(role);
}

// Why what the job holds is held for nothing; empty: it is not.
std::string_view IdleReason(const WatchedJob& job, bool stands_still) {
  if (job.ended()) return "JobEnded";
  if (job.status.state == JobState::kSuspended) return "JobSuspended";
  return stands_still ? "NoProgress" : "";
}

// Each once, and no more than a node can have.
class DistinctIds {
 public:
  void Add(std::string_view id) {
    const bool room = ids_.size() < static_cast<size_t>(GpuTable::kGpusOfNodeMax);
    if (room && std::find(ids_.begin(), ids_.end(), id) == ids_.end()) ids_.push_back(id);
  }
  const std::vector<std::string_view>& ids() const { return ids_; }

 private:
  std::vector<std::string_view> ids_;
};

void AppendMemory(std::string_view key, const std::optional<int64_t>& mib, std::string* out) {
  if (mib.has_value() && *mib >= 0 && *mib <= kMemoryMibMax) AppendNumber(key, *mib, out);
}

}  // namespace

class GpuTable::Maker {
 public:
  Maker(const GpuFacts& facts, GpuTable* table) : facts_(facts), table_(table) {}

  void Make() {
    table_->resource_ = facts_.resource;
    table_->nodes_known_ = facts_.nodes_known;
    for (const auto& node : facts_.nodes) AddNode(*node);
    for (const auto& pod : facts_.pods) {
      if (pod->gpus > 0 && !HasStopped(*pod)) AddPod(*pod);
    }
    for (size_t i = 0; i < drafts_.size(); ++i) {
      Node& node = table_->nodes_[i];
      FinishNode(drafts_[i], &node);
      // With the room that the members between them take.
      table_->size_ += node.name.size() + node.about.size() + 100;
      for (const Holder& holder : node.holders) {
        table_->size_ += holder.pod.size() + holder.of_job.size() + 2;
      }
      for (const Device& device : node.devices) table_->size_ += device.text.size() + 1;
    }
  }

 private:
  // Ids are those of the facts, or of slots_.
  struct DeviceDraft {
    std::string_view id;
    std::string_view health = "Unknown";
    const DeviceReading* reading = nullptr;
    std::vector<size_t> holders;
  };
  struct NodeDraft {
    std::vector<DeviceDraft> devices;
    std::unordered_map<std::string_view, size_t> places;  // By id.
    bool simulated = false;
  };
  struct JobFacts {
    GpuFacts::JobPtr job;
    std::string members;  // Of the job, without what differs from pod to pod.
  };

  static DeviceDraft& DeviceOf(std::string_view id, NodeDraft* draft) {
    const auto [at, added] = draft->places.try_emplace(id, draft->devices.size());
    if (added) draft->devices.push_back({.id = id});
    return draft->devices[at->second];
  }

  size_t PlaceOf(const std::string& name) {
    const auto [at, added] = nodes_.try_emplace(name, drafts_.size());
    if (!added) return at->second;
    drafts_.emplace_back();
    Node node{.name = "{\"name\":"};
    AppendQuoted(name, &node.name);
    // Until its object says more: a pod may be on a node that is gone.
    node.about = R"(,"ready":false,"schedulable":false,"product":"","simulated":false)";
    table_->nodes_.push_back(std::move(node));
    return at->second;
  }

  void AddNode(const WatchedNode& watched) {
    const size_t place = PlaceOf(watched.meta.name);
    Node& node = table_->nodes_[place];
    const int32_t capacity = std::clamp(watched.capacity, 0, kGpusOfNodeMax);
    const int32_t allocatable = std::clamp(watched.allocatable, 0, kGpusOfNodeMax);
    const bool simulated = facts_.local && watched.product == kSimulated;
    drafts_[place].simulated = simulated;
    node.about = std::string(R"(,"ready":)") + (watched.ready ? "true" : "false") +
                 R"(,"schedulable":)" + (watched.schedulable ? "true" : "false") +
                 R"(,"product":)";
    AppendQuoted(watched.product, &node.about);
    node.about += std::string(R"(,"simulated":)") + (simulated ? "true" : "false");
    AppendMemory("memoryMiB", watched.memory_mib, &node.about);
    AppendNumber("capacity", capacity, &node.about);
    AppendNumber("allocatable", allocatable, &node.about);
    node.has_gpus = capacity > 0 || allocatable > 0;
    for (int32_t slot = 0; facts_.local && slot < capacity; ++slot) {
      DeviceOf(SlotName(slot), &drafts_[place]);
    }
  }

  std::string_view SlotName(int32_t slot) {
    while (slots_.size() <= static_cast<size_t>(slot)) {
      slots_.push_back(std::to_string(slots_.size()));
    }
    return slots_[static_cast<size_t>(slot)];
  }

  void AddPod(const WatchedPod& pod) {
    if (!pod.node.empty()) return AddHolder(pod);
    // What is being deleted waits for nothing any more.
    if (pod.meta.deletion_time.has_value()) return;
    table_->pending_.push_back(MakeHolder(pod, {}, "count"));
  }

  void AddHolder(const WatchedPod& pod) {
    const size_t place = PlaceOf(pod.node);
    NodeDraft& draft = drafts_[place];
    // What has the number of a simulated device is another one, if it is there at all.
    const auto* readings =
        facts_.readings && !draft.simulated ? facts_.readings(pod) : nullptr;
    DistinctIds distinct;
    for (const std::string& id : pod.devices) distinct.Add(id);
    std::string_view source = facts_.local ? "node" : "allocatedResourcesStatus";
    // Of a program that sees more than its pod holds nobody knows which these are.
    const bool telling =
        readings != nullptr && static_cast<int64_t>(readings->size()) <= pod.gpus;
    if (distinct.ids().empty() && telling) {
      source = "trainer";
      for (const DeviceReading& reading : *readings) distinct.Add(reading.id);
    }
    const std::vector<std::string_view>& ids = distinct.ids();
    if (ids.empty()) source = "count";
    Node& node = table_->nodes_[place];
    for (const std::string_view id : ids) {
      DeviceDraft& device = DeviceOf(id, &draft);
      device.holders.push_back(node.holders.size());
      SetHealth(pod, source, &device);
      if (readings == nullptr) continue;
      for (const DeviceReading& reading : *readings) {
        if (reading.id == id) device.reading = &reading;
      }
    }
    node.holders.push_back(MakeHolder(pod, ids, source));
  }

  // A trainer measures a device; whether it is well the cluster says, and the worst counts.
  static void SetHealth(const WatchedPod& pod, std::string_view source, DeviceDraft* device) {
    const auto& unhealthy = pod.unhealthy;
    if (std::find(unhealthy.begin(), unhealthy.end(), device->id) != unhealthy.end()) {
      device->health = "Unhealthy";
    } else if (source != "trainer" && device->health == "Unknown") {
      device->health = "Healthy";
    }
  }

  Holder MakeHolder(const WatchedPod& pod, const std::vector<std::string_view>& devices,
                    std::string_view source) {
    Holder holder{.ns = pod.meta.ns, .gpus = pod.gpus};
    std::string& out = holder.pod;
    out.reserve(360);
    out = "{\"namespace\":";
    AppendQuoted(pod.meta.ns, &out);
    AppendText("pod", pod.meta.name, &out);
    AppendNumber("count", pod.gpus, &out);
    out += ",\"devices\":[";
    for (const std::string_view id : devices) {
      AppendComma(&out);
      AppendQuoted(id, &out);
    }
    out += ']';
    AppendText("source", source, &out);
    AppendText("state", PodState(pod), &out);
    // When it was bound is not kept; its container starts soon after.
    const auto since = pod.started_at.has_value() ? pod.started_at : pod.meta.creation_time;
    if (since.has_value()) AppendText("since", FormatRfc3339(*since), &out);
    AddJob(pod, &holder);
    return holder;
  }

  void AddJob(const WatchedPod& pod, Holder* holder) {
    const JobFacts& facts = JobOf(pod);
    if (facts.job == nullptr) return;
    holder->kind = facts.job->kind;
    holder->of_job = facts.members;
    if (!pod.role.has_value()) return;
    AppendText("role", RoleOf(*facts.job, *pod.role), &holder->of_job);
    AppendNumber("index", pod.index, &holder->of_job);
  }

  // Pods come by name, those of one job one after the other.
  const JobFacts& JobOf(const WatchedPod& pod) {
    if (pod.job.empty()) return none_;
    if (pod.job == last_name_ && pod.meta.ns == last_ns_ && pod.owner_uid == last_uid_) {
      return last_;
    }
    last_name_ = pod.job;
    last_ns_ = pod.meta.ns;
    last_uid_ = pod.owner_uid;
    last_ = FindJob(pod);
    return last_;
  }

  JobFacts FindJob(const WatchedPod& pod) const {
    const std::optional<JobKind> kind = KindOf(pod.owner_kind);
    if (!kind.has_value() || !facts_.job) return {};
    const GpuFacts::JobPtr job = facts_.job(JobKey(*kind, pod.meta.ns, pod.job));
    // Another one of the same name does not own it.
    if (job == nullptr || job->meta.uid != pod.owner_uid) return {};
    JobFacts facts{.job = job};
    std::string& out = facts.members;
    out = R"(,"job":{"kind":")" + std::string(DialectOf(*kind).kind_name) + '"';
    AppendText("namespace", job->meta.ns, &out);
    AppendText("name", job->meta.name, &out);
    out += '}';
    AppendText("owner", job->owner, &out);
    const bool still = facts_.stands_still && facts_.stands_still(*job);
    const std::string_view idle = IdleReason(*job, still);
    out += idle.empty() ? R"(,"idle":false)" : R"(,"idle":true)";
    AppendText("idleReason", idle, &out);
    return facts;
  }

  static void FinishNode(const NodeDraft& draft, Node* node) {
    for (const DeviceDraft& device : draft.devices) {
      std::string out = "{\"id\":";
      AppendQuoted(device.id, &out);
      AppendText("health", device.health, &out);
      if (device.holders.size() > 1) {
        AppendNumber("claims", static_cast<int64_t>(device.holders.size()), &out);
      }
      if (device.reading != nullptr) AppendReading(*device.reading, &out);
      out += '}';
      node->devices.push_back({std::move(out), device.holders});
    }
  }

  static void AppendReading(const DeviceReading& reading, std::string* out) {
    const auto& utilization = reading.utilization;
    if (utilization.has_value() && *utilization >= 0 && *utilization <= 1) {
      *out += R"(,"utilization":)" + nlohmann::json(*utilization).dump();
    }
    AppendMemory("memoryUsedMiB", reading.memory_used_mib, out);
    AppendMemory("memoryTotalMiB", reading.memory_total_mib, out);
    AppendWatts("powerWatts", reading.power_watts, out);
    AppendWatts("powerLimitWatts", reading.power_limit_watts, out);
    const auto& degrees = reading.temperature_c;
    if (degrees.has_value() && *degrees >= kColdest && *degrees <= kHottest) {
      AppendNumber("temperatureC", *degrees, out);
    }
    if (reading.throttle.has_value()) {
      *out += R"(,"throttle":)" + nlohmann::json(*reading.throttle).dump();
    }
    const auto& errors = reading.ecc_uncorrected;
    if (errors.has_value() && *errors >= 0 && *errors <= kErrorsMax) {
      AppendNumber("eccUncorrected", *errors, out);
    }
  }

  static void AppendWatts(std::string_view name, const std::optional<double>& watts,
                          std::string* out) {
    if (!watts.has_value() || !(*watts >= 0 && *watts <= kWattsMax)) return;
    *out += ",\"" + std::string(name) + "\":" + nlohmann::json(*watts).dump();
  }

  const GpuFacts& facts_;
  GpuTable* const table_;
  std::deque<std::string> slots_;
  std::vector<NodeDraft> drafts_;  // As table_->nodes_.
  std::unordered_map<std::string_view, size_t> nodes_;
  const JobFacts none_;
  std::string last_name_, last_ns_, last_uid_;
  JobFacts last_;
};

GpuTable::GpuTable(const GpuFacts& facts) { Maker(facts, this).Make(); }

void GpuTable::AppendHolder(const Holder& holder, const Sight& sight, std::string* out) {
  AppendComma(out);
  *out += holder.pod;
  const bool of_job = holder.kind.has_value() && sight.MaySee(*holder.kind, holder.ns);
  *out += of_job ? std::string_view(holder.of_job) : R"(,"idle":false)";
  *out += '}';
}

void GpuTable::AppendNode(const Node& node, const Sight& sight, std::string* out) const {
  const bool nodes_visible = sight.nodes && nodes_known_;
  const auto visible = [&](size_t holder) { return sight.pods.Has(node.holders[holder].ns); };
  int64_t hidden = 0;
  size_t shown = 0;
  for (size_t i = 0; i < node.holders.size(); ++i) {
    const bool sees = visible(i);
    shown += sees ? 1 : 0;
    hidden += sees ? 0 : node.holders[i].gpus;
  }
  if (nodes_visible ? !node.has_gpus && node.holders.empty() : shown == 0) return;
  AppendComma(out);
  *out += node.name;
  *out += nodes_visible ? std::string_view(node.about)
                        : R"(,"ready":true,"schedulable":true,"product":"","simulated":false)";
  AppendNumber("hidden", nodes_visible ? hidden : 0, out);
  *out += ",\"holders\":[";
  for (size_t i = 0; i < node.holders.size(); ++i) {
    if (visible(i)) AppendHolder(node.holders[i], sight, out);
  }
  *out += "],\"devices\":[";
  for (const Device& device : node.devices) {
    const auto& holders = device.holders;
    const bool known = holders.empty() ? nodes_visible
                                       : std::any_of(holders.begin(), holders.end(), visible);
    if (!known) continue;
    AppendComma(out);
    *out += device.text;
  }
  *out += "]}";
}

std::string GpuTable::TextFor(const Sight& sight) const {
  const bool nodes_visible = sight.nodes && nodes_known_;
  std::string out;
  out.reserve(size_);
  out = "{\"resource\":";
  AppendQuoted(resource_, &out);
  out += std::string(R"(,"nodesVisible":)") + (nodes_visible ? "true" : "false");
  out += ",\"nodes\":[";
  for (const Node& node : nodes_) AppendNode(node, sight, &out);
  out += "],\"pending\":[";
  int64_t hidden = 0;
  for (const Holder& holder : pending_) {
    if (sight.pods.Has(holder.ns)) {
      AppendHolder(holder, sight, &out);
    } else {
      hidden += holder.gpus;
    }
  }
  out += ']';
  AppendNumber("hiddenPending", nodes_visible ? hidden : 0, &out);
  out += '}';
  return out;
}

}  // namespace taas::dashboard
