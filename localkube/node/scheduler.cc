#include "localkube/node/scheduler.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

#include "localkube/node/pod_json.h"
#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

// After a failure of the API or the store.
constexpr auto kRetryAfter = 500ms;

// An API server lets objects through that we do not expect, and memory may run out over one; it
// must not end the scheduler. False: there was an exception, and the object waits for its next
// event.
bool WithoutExceptions(const std::string& key, const std::function<void()>& task) {
  try {
    task();
    return true;
  } catch (const std::exception& error) {
    Log(LogLevel::kWarning, "object not read", {{"object", key}, {"cause", error.what()}});
    return false;
  }
}

}  // namespace

Scheduler::Scheduler(Api& api, Store& store, const Clock& clock)
    : api_(api),
      clock_(clock),
      events_(api, clock, "default-scheduler"),
      taint_events_(api, clock, "taint-eviction-controller"),
      executor_(clock, "scheduler"),
      pod_watch_(store, executor_, "pods",
                 {.restarted =
                      [this] {
                        pods_.clear();
                        listing_.insert("pods");
                      },
                  .changed = [this](const StoreEvent& event) { OnPod(event); }}),
      node_watch_(store, executor_, "nodes",
                  {.restarted =
                       [this] {
                         nodes_.clear();
                         listing_.insert("nodes");
                       },
                   .changed = [this](const StoreEvent& event) { OnNode(event); }}) {}

Scheduler::~Scheduler() {
  executor_.Stop();  // First, because its tasks use all the rest.
}

void Scheduler::Start() {
  executor_.Post([this] {
    node_watch_.Start();
    pod_watch_.Start();
  });
}

void Scheduler::OnPod(const StoreEvent& event) {
  const std::string key = event.key.ns + "/" + event.key.name;
  if (event.type == StoreEventType::kInitialEnd) {
    listing_.erase("pods");
  } else if (event.type == StoreEventType::kDeleted) {
    pods_.erase(key);
  } else {
    WithoutExceptions(key, [&] {
      Entry entry = ReadEntry(event);
      const auto before = pods_.find(key);
      // The same pod goes on being unwanted; one of the same name begins anew.
      if (before != pods_.end() && before->second.pod.node == entry.pod.node) {
        entry.tainted_since = before->second.tainted_since;
      }
      pods_[key] = std::move(entry);
    });
  }
  RunSoon();
}

void Scheduler::OnNode(const StoreEvent& event) {
  if (event.type == StoreEventType::kInitialEnd) {
    listing_.erase("nodes");
  } else if (event.type == StoreEventType::kDeleted) {
    nodes_.erase(event.key.name);
  } else {
    WithoutExceptions(event.key.name, [&] {
      nodes_[event.key.name] =
          ReadNodeState(Json::parse(*event.text, nullptr, /*allow_exceptions=*/false));
    });
  }
  RunSoon();
}

Scheduler::Entry Scheduler::ReadEntry(const StoreEvent& event) const {
  const Json object = Json::parse(*event.text, nullptr, /*allow_exceptions=*/false);
  Entry entry;
  entry.pod = ReadPodToPlace(object);
  entry.pod.key = event.key.ns + "/" + event.key.name;
  entry.ns = event.key.ns;
  entry.name = event.key.name;
  entry.deleting = Member(object, "metadata").contains("deletionTimestamp");
  entry.text = event.text;
  // A pod that is on its way out before it was placed gets no node any more.
  if (entry.pod.node.empty() && entry.deleting) entry.pod.holds = false;
  return entry;
}

// One round for all events that are waiting.
void Scheduler::RunSoon() {
  if (!listing_.empty() || std::exchange(run_posted_, true)) return;
  executor_.Post([this] {
    run_posted_ = false;
    if (listing_.empty()) Run();
  });
}

void Scheduler::Run() {
  EvictTainted();
  Place();
}

void Scheduler::Place() {
  std::vector<PodToPlace> pods;
  for (const auto& [key, entry] : pods_) pods.push_back(entry.pod);
  std::vector<NodeState> nodes;
  for (const auto& [name, node] : nodes_) nodes.push_back(node);
  bool again = false;
  for (const Placement& placement : Schedule(nodes, std::move(pods))) {
    again = !Carry(placement, &pods_.at(placement.key)) || again;
  }
  if (again) executor_.PostAfter(kRetryAfter, [this] { RunSoon(); });
}

// False: worth another try.
bool Scheduler::Carry(const Placement& placement, Entry* entry) {
  absl::Status status;
  const bool fits = !placement.node.empty();
  const bool done = WithoutExceptions(placement.key, [&] {
    status = fits ? Bind(*entry, placement.node) : Refuse(*entry, placement.message);
  });
  if (!done) return true;
  if (status.ok() && fits) entry->pod.node = placement.node;
  // A conflict or a missing object means that an event is on its way.
  if (status.ok() || absl::IsAborted(status) || absl::IsNotFound(status)) return true;
  Log(LogLevel::kWarning, "pod not placed",
      {{"pod", placement.key}, {"cause", std::string(status.message())}});
  return false;
}

absl::Status Scheduler::Bind(const Entry& entry, const std::string& node) {
  const Json binding = {{"apiVersion", "v1"},
                        {"kind", "Binding"},
                        {"metadata", {{"name", entry.name}, {"namespace", entry.ns}}},
                        {"target", {{"kind", "Node"}, {"name", node}}}};
  RETURN_IF_ERROR(api_.Post(PodPath(entry.ns, entry.name) + "/binding", binding.dump()).status());
  events_.Emit(Json::parse(*entry.text, nullptr, /*allow_exceptions=*/false),
               {.reason = "Scheduled",
                .message = "Successfully assigned " + entry.pod.key + " to " + node,
                .container = {}});
  return absl::OkStatus();
}

// Replaces the pod's condition of that type; `changed` is false if it says so already.
absl::Status Scheduler::WriteCondition(const Entry& entry, const Json& wanted, bool* changed) {
  Json pod = Json::parse(*entry.text, nullptr, /*allow_exceptions=*/false);
  Json condition = wanted;
  condition["lastTransitionTime"] = FormatRfc3339(clock_.WallNow());
  Json& status = pod["status"];
  if (!status.is_object()) status = Json::object();
  Json conditions = Json::array();
  *changed = true;
  for (const Json& old : Elements(status, "conditions")) {
    if (Text(old, "type") != Text(wanted, "type")) {
      conditions.push_back(old);
    } else if (Text(old, "status") == Text(wanted, "status")) {
      if (Text(old, "message") == Text(wanted, "message")) *changed = false;
      condition["lastTransitionTime"] = Text(old, "lastTransitionTime");
    }
  }
  if (!*changed) return absl::OkStatus();
  conditions.push_back(condition);
  status["conditions"] = conditions;
  return api_.Put(PodPath(entry.ns, entry.name) + "/status", pod.dump()).status();
}

absl::Status Scheduler::Refuse(const Entry& entry, const std::string& message) {
  bool changed = false;
  RETURN_IF_ERROR(WriteCondition(entry,
                                 {{"type", "PodScheduled"},
                                  {"status", "False"},
                                  {"reason", "Unschedulable"},
                                  {"message", message}},
                                 &changed));
  if (!changed) return absl::OkStatus();
  events_.Emit(
      Json::parse(*entry.text, nullptr, /*allow_exceptions=*/false),
      {.reason = "FailedScheduling", .message = message, .warning = true, .container = {}});
  return absl::OkStatus();
}

// What Kubernetes' taint manager does, and the way to play a node that is lost or broken.
void Scheduler::EvictTainted() {
  const Clock::WallTime now = clock_.WallNow();
  std::optional<Clock::WallTime> next;
  for (auto& [key, entry] : pods_) {
    const auto node = nodes_.find(entry.pod.node);
    std::optional<int64_t> seconds;
    if (node != nodes_.end() && entry.pod.holds && !entry.deleting) {
      seconds = SecondsToStay(node->second.taints, entry.pod.tolerations);
    }
    if (!seconds.has_value()) {
      entry.tainted_since.reset();
      continue;
    }
    if (!entry.tainted_since.has_value()) entry.tainted_since = now;
    // Longer than this no clock counts; it is for ever.
    constexpr int64_t kStayMax = int64_t{10} * 365 * 86'400;
    const Clock::WallTime at =
        *entry.tainted_since + std::chrono::seconds(std::min(*seconds, kStayMax));
    if (at > now) {
      next = next.has_value() ? std::min(*next, at) : at;
      continue;
    }
    absl::Status status;
    WithoutExceptions(key, [&, &pod = entry] { status = Evict(pod); });
    if (status.ok() || absl::IsAborted(status) || absl::IsNotFound(status)) continue;
    Log(LogLevel::kWarning, "pod not taken off its node",
        {{"pod", key}, {"cause", std::string(status.message())}});
    next = now + kRetryAfter;
  }
  if (timer_ != 0) executor_.Cancel(std::exchange(timer_, 0));
  if (!next.has_value()) return;
  timer_ = executor_.PostAfter(*next - now, [this] {
    timer_ = 0;
    RunSoon();
  });
}

absl::Status Scheduler::Evict(const Entry& entry) {
  bool changed = false;
  RETURN_IF_ERROR(WriteCondition(entry,
                                 {{"type", "DisruptionTarget"},
                                  {"status", "True"},
                                  {"reason", "DeletionByTaintManager"},
                                  {"message", "Taint manager: deleting due to NoExecute taint"}},
                                 &changed));
  const Json pod = Json::parse(*entry.text, nullptr, /*allow_exceptions=*/false);
  const Json options = {{"preconditions", {{"uid", Text(Member(pod, "metadata"), "uid")}}}};
  RETURN_IF_ERROR(api_.Delete(PodPath(entry.ns, entry.name), options.dump()).status());
  taint_events_.Emit(pod, {.reason = "TaintManagerEviction",
                           .message = "Marking for deletion Pod " + entry.pod.key,
                           .container = {}});
  return absl::OkStatus();
}

}  // namespace taas::localkube
