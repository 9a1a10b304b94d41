#include "localkube/node/pod_plan.h"

#include <algorithm>
#include <utility>

#include "nlohmann/json.hpp"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr char kLoopback[] = "127.0.0.1";
// The kubelet's crash loop: none before the first restart, then 10 s doubling to 5 min.
constexpr std::chrono::seconds kFirstRestartDelay{10};
constexpr std::chrono::seconds kRestartDelayMax{300};

std::string Text(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

const Json& Member(const Json& object, const char* key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto it = object.find(key);
  return it == object.end() ? kNothing : *it;
}

Json Terminated(const ExitRecord& exit, const std::string& id) {
  Json out = {{"exitCode", exit.exit_code},
              {"reason", exit.reason},
              {"startedAt", FormatRfc3339(exit.started_at)},
              {"finishedAt", FormatRfc3339(exit.finished_at)},
              {"containerID", id}};
  if (!exit.message.empty()) out["message"] = exit.message;
  return Json{{"terminated", out}};
}

Json Waiting(const std::string& reason, const std::string& message) {
  Json out = {{"reason", reason}};
  if (!message.empty()) out["message"] = message;
  return Json{{"waiting", out}};
}

class PodPlanner {
 public:
  PodPlanner(const Json& pod, const std::map<std::string, ContainerRuns>& runs, Clock::WallTime now)
      : pod_(pod), runs_(runs), now_(now), status_(Member(pod, "status")) {
    if (!status_.is_object()) status_ = Json::object();
    const std::string phase = Text(status_, "phase");
    terminal_ = phase == "Succeeded" || phase == "Failed";
    const std::string deletion = Text(Member(pod, "metadata"), "deletionTimestamp");
    Clock::WallTime at{};
    if (!deletion.empty() && ParseRfc3339(deletion, &at)) deletion_ = at;
  }

  PodPlan Plan();

 private:
  void PlanContainer(const Json& container);
  void PlanEnded(const std::string& name, const ContainerRuns& runs, Json* state);
  bool Restarts(int exit_code) const;
  void SetCondition(const char* type, bool value, const char* reason, const std::string& message);
  void WakeAt(Clock::WallTime at);

  const Json& pod_;
  const std::map<std::string, ContainerRuns>& runs_;
  const Clock::WallTime now_;
  Json status_;
  bool terminal_ = false;
  std::optional<Clock::WallTime> deletion_;

  PodPlan plan_;
  Json container_statuses_ = Json::array();
  std::vector<std::string> unready_;
  int alive_ = 0;      // Run, or will again.
  int untouched_ = 0;  // Have never been started.
  int failed_ = 0;
  int started_ = 0;
};

bool PodPlanner::Restarts(int exit_code) const {
  if (terminal_ || deletion_.has_value()) return false;
  const std::string policy = Text(Member(pod_, "spec"), "restartPolicy");
  if (policy == "Never") return false;
  return policy != "OnFailure" || exit_code != 0;
}

void PodPlanner::WakeAt(Clock::WallTime at) {
  plan_.wake_at = plan_.wake_at.has_value() ? std::min(*plan_.wake_at, at) : at;
}

// The container has ended: for good, or until its next run.
void PodPlanner::PlanEnded(const std::string& name, const ContainerRuns& runs, Json* state) {
  const ExitRecord& exit = *runs.run.exit;
  if (!Restarts(exit.exit_code)) {
    if (exit.exit_code != 0) ++failed_;
    return;
  }
  ++alive_;
  const std::chrono::seconds delay = RestartDelay(runs.number + 1);
  const Clock::WallTime at = exit.finished_at + delay;
  if (now_ >= at) {
    plan_.starts.push_back({name, runs.number + 1});
    return;
  }
  WakeAt(at);
  *state = Waiting("CrashLoopBackOff", "back-off " + std::to_string(delay.count()) +
                                           "s restarting failed container=" + name);
}

void PodPlanner::PlanContainer(const Json& container) {
  const std::string name = Text(container, "name");
  const auto found = runs_.find(name);
  const ContainerRuns runs = found == runs_.end() ? ContainerRuns() : found->second;
  const std::string id_stem = "taas://" + Text(Member(pod_, "metadata"), "uid") + "/" + name + "/";
  Json state = Waiting("ContainerCreating", "");
  Json last = Json::object();
  bool ready = false;
  switch (runs.run.phase) {
    case RunPhase::kNew:
      if (deletion_.has_value() && runs.number >= 0) {
        // A shim may be on its way to claim this run: it finds the stop and does not start it.
        plan_.stops.push_back({name, runs.number, 0ms});
      }
      if (deletion_.has_value() || terminal_) {
        ++untouched_;
      } else {
        ++alive_;
        plan_.starts.push_back({name, std::max(runs.number, 0)});
      }
      break;
    case RunPhase::kStarting:
    case RunPhase::kRunning:
      ++alive_;
      ++started_;
      if (runs.run.phase == RunPhase::kRunning) {
        ready = !deletion_.has_value();
        state = {{"running", {{"startedAt", FormatRfc3339(runs.run.state->started_at)}}}};
      }
      if (deletion_.has_value()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deletion_ - now_);
        plan_.stops.push_back({name, runs.number, std::max(left, 0ms)});
      } else if (terminal_) {
        plan_.stops.push_back({name, runs.number, 0ms});
      }
      break;
    case RunPhase::kEnded:
      ++started_;
      state = Terminated(*runs.run.exit, id_stem + std::to_string(runs.number));
      last = state;
      PlanEnded(name, runs, &state);
      if (state == last) last = Json::object();
      break;
  }
  if (last.empty() && runs.previous.has_value()) {
    last = Terminated(*runs.previous, id_stem + std::to_string(runs.number - 1));
  }
  if (!ready) unready_.push_back(name);
  const bool running = state.contains("running");
  container_statuses_.push_back(
      {{"name", name},
       {"image", Text(container, "image")},
       {"imageID", ""},
       {"containerID", runs.number >= 0 ? id_stem + std::to_string(runs.number) : ""},
       {"ready", ready},
       {"started", running},
       {"restartCount", std::max(runs.number, 0)},
       {"state", state},
       {"lastState", last}});
}

void PodPlanner::SetCondition(const char* type, bool value, const char* reason,
                              const std::string& message) {
  Json condition = {{"type", type},
                    {"status", value ? "True" : "False"},
                    {"lastTransitionTime", FormatRfc3339(now_)}};
  if (!value && *reason != '\0') condition["reason"] = reason;
  if (!value && !message.empty()) condition["message"] = message;
  Json& conditions = status_["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  for (Json& old : conditions) {
    if (Text(old, "type") != type) continue;
    if (Text(old, "status") == Text(condition, "status")) {
      condition["lastTransitionTime"] = Text(old, "lastTransitionTime");
    }
    old = condition;
    return;
  }
  conditions.push_back(condition);
}

PodPlan PodPlanner::Plan() {
  const Json& containers = Member(Member(pod_, "spec"), "containers");
  for (const Json& container : containers) PlanContainer(container);

  const bool ended = alive_ == 0 && untouched_ == 0;
  std::string phase = Text(status_, "phase");
  if (!terminal_) {
    if (ended && started_ > 0) {
      phase = failed_ > 0 ? "Failed" : "Succeeded";
    } else {
      phase = started_ > 0 ? "Running" : "Pending";
    }
  }
  status_["phase"] = phase;
  status_["hostIP"] = kLoopback;
  status_["podIP"] = kLoopback;
  status_["podIPs"] = Json::array({{{"ip", kLoopback}}});
  if (Text(status_, "startTime").empty()) status_["startTime"] = FormatRfc3339(now_);
  status_["containerStatuses"] = container_statuses_;

  std::string message;
  for (const std::string& name : unready_) message += (message.empty() ? "" : " ") + name;
  if (!message.empty()) message = "containers with unready status: [" + message + "]";
  const char* reason = phase == "Succeeded" ? "PodCompleted"
                       : phase == "Failed"  ? "PodFailed"
                                            : "ContainersNotReady";
  SetCondition("PodScheduled", true, "", "");
  SetCondition("Initialized", true, "", "");
  SetCondition("ContainersReady", unready_.empty(), reason, message);
  SetCondition("Ready", unready_.empty(), reason, message);
  plan_.status = status_.dump(-1, ' ', false, Json::error_handler_t::replace);
  plan_.confirm_deletion = deletion_.has_value() && alive_ == 0;
  return std::move(plan_);
}

}  // namespace

PodPlan PlanPod(const Json& pod, const std::map<std::string, ContainerRuns>& runs,
                Clock::WallTime now) {
  return PodPlanner(pod, runs, now).Plan();
}

std::chrono::seconds RestartDelay(int restarts) {
  if (restarts <= 1) return 0s;
  // 10 s · 2^5 is beyond the limit; a larger shift could overflow.
  const int doublings = std::min(restarts - 2, 5);
  return std::min(kFirstRestartDelay * (1 << doublings), kRestartDelayMax);
}

}  // namespace taas::localkube
