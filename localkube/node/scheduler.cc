#include "localkube/node/scheduler.h"

#include <functional>
#include <utility>

#include "nlohmann/json.hpp"
#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

// After a failure of the API or the store.
constexpr auto kRetryAfter = 500ms;

std::string Text(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

// An API server lets objects through that we do not expect; one of them must not end the scheduler.
// False: there was an exception, and the pod waits for its next event.
bool WithoutJsonExceptions(const std::string& pod, const std::function<void()>& task) {
  try {
    task();
    return true;
  } catch (const Json::exception& error) {
    Log(LogLevel::kWarning, "pod not placed",
        {{"pod", pod}, {"cause", std::string("read the pod: ") + error.what()}});
    return false;
  }
}

}  // namespace

Scheduler::Scheduler(NodeCapacity capacity, Api& api, Store& store, const Clock& clock)
    : capacity_(std::move(capacity)),
      api_(api),
      store_(store),
      clock_(clock),
      executor_(clock, "scheduler") {}

Scheduler::~Scheduler() {
  executor_.Stop();  // First, because its tasks replace the watch.
  watch_.reset();
}

void Scheduler::Start() {
  executor_.Post([this] { Follow(); });
}

void Scheduler::Follow() {
  watch_.reset();
  listing_ = true;
  pods_.clear();
  auto watch = store_.Watch({.resource = "pods"}, [this](const StoreEvent& event) {
    executor_.Post([this, event] { OnEvent(event); });
  });
  if (watch.ok()) {
    watch_ = *std::move(watch);
    return;
  }
  Log(LogLevel::kError, "watch pods failed", {{"cause", std::string(watch.status().message())}});
  executor_.PostAfter(kRetryAfter, [this] { Follow(); });
}

void Scheduler::OnEvent(const StoreEvent& event) {
  const std::string key = event.key.ns + "/" + event.key.name;
  switch (event.type) {
    case StoreEventType::kAdded:
    case StoreEventType::kModified: {
      WithoutJsonExceptions(key, [&] { pods_[key] = ReadEntry(event); });
      break;
    }
    case StoreEventType::kDeleted: pods_.erase(key); break;
    case StoreEventType::kInitialEnd: listing_ = false; break;
    case StoreEventType::kBookmark: return;
    case StoreEventType::kGone: Follow(); return;
  }
  if (!listing_) RunSoon();
}

Scheduler::Entry Scheduler::ReadEntry(const StoreEvent& event) const {
  const Json object = Json::parse(*event.text, nullptr, /*allow_exceptions=*/false);
  Entry entry;
  entry.pod = ReadPodToPlace(object, capacity_);
  entry.pod.key = event.key.ns + "/" + event.key.name;
  entry.ns = event.key.ns;
  entry.name = event.key.name;
  const bool deleting = object.value("metadata", Json::object()).contains("deletionTimestamp");
  if (entry.pod.node.empty() && !deleting) entry.text = event.text;
  // A pod that is on its way out before it was placed gets no node any more.
  if (entry.pod.node.empty() && deleting) entry.pod.holds = false;
  return entry;
}

// One round for all events that are waiting.
void Scheduler::RunSoon() {
  if (std::exchange(run_posted_, true)) return;
  executor_.Post([this] {
    run_posted_ = false;
    Run();
  });
}

void Scheduler::Run() {
  std::vector<PodToPlace> pods;
  for (const auto& [key, entry] : pods_) pods.push_back(entry.pod);
  bool again = false;
  for (const Placement& placement : Schedule(capacity_, std::move(pods))) {
    Entry& entry = pods_.at(placement.key);
    if (entry.text == nullptr) continue;
    absl::Status status;
    const bool done = WithoutJsonExceptions(placement.key, [&] {
      status = placement.fits ? Bind(entry) : Refuse(entry, placement.message);
    });
    if (!done) continue;
    if (status.ok() && placement.fits) {
      entry.pod.node = capacity_.name;
      entry.text = nullptr;
    }
    // A conflict or a missing object means that an event is on its way.
    if (status.ok() || absl::IsAborted(status) || absl::IsNotFound(status)) continue;
    Log(LogLevel::kWarning, "pod not placed",
        {{"pod", placement.key}, {"cause", std::string(status.message())}});
    again = true;
  }
  if (again) executor_.PostAfter(kRetryAfter, [this] { RunSoon(); });
}

absl::Status Scheduler::Bind(const Entry& entry) {
  const Json binding = {{"apiVersion", "v1"},
                        {"kind", "Binding"},
                        {"metadata", {{"name", entry.name}, {"namespace", entry.ns}}},
                        {"target", {{"kind", "Node"}, {"name", capacity_.name}}}};
  return api_.Post(PodPath(entry.ns, entry.name) + "/binding", binding.dump()).status();
}

absl::Status Scheduler::Refuse(const Entry& entry, const std::string& message) {
  Json pod = Json::parse(*entry.text, nullptr, /*allow_exceptions=*/false);
  Json condition = {{"type", "PodScheduled"},
                    {"status", "False"},
                    {"reason", "Unschedulable"},
                    {"message", message},
                    {"lastTransitionTime", FormatRfc3339(clock_.WallNow())}};
  Json& status = pod["status"];
  if (!status.is_object()) status = Json::object();
  Json conditions = Json::array();
  for (const Json& old : status.value("conditions", Json::array())) {
    if (Text(old, "type") != "PodScheduled") {
      conditions.push_back(old);
    } else if (Text(old, "status") == "False") {
      if (Text(old, "message") == message) return absl::OkStatus();
      condition["lastTransitionTime"] = Text(old, "lastTransitionTime");
    }
  }
  conditions.push_back(condition);
  status["conditions"] = conditions;
  status["phase"] = "Pending";
  return api_.Put(PodPath(entry.ns, entry.name) + "/status", pod.dump()).status();
}

}  // namespace taas::localkube
