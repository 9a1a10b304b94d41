#include "localkube/node/pod_plan.h"

#include <algorithm>
#include <utility>

#include "localkube/node/pod_json.h"
#include "localkube/node/pod_run.h"
#include "localkube/node/schedule.h"
#include "operator/api/pod.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr char kLoopback[] = "127.0.0.1";
// The kubelet's crash loop: none before the first restart, then 10 s doubling to 5 min.
constexpr std::chrono::seconds kFirstRestartDelay{10};
constexpr std::chrono::seconds kRestartDelayMax{300};

// Of the deadline of a pod: the kubelet's words.
constexpr char kDeadlineMessage[] =
    "Pod was active on the node longer than the specified deadline";
// A run as long as this ends a crash loop: twice the longest delay, as for the kubelet.
constexpr std::chrono::seconds kCrashMemory = 2 * kRestartDelayMax;

// As Go writes a duration of whole seconds: "40s", "1m20s", "5m0s".
std::string GoDuration(std::chrono::seconds delay) {
  const int64_t seconds = delay.count();
  const std::string rest = std::to_string(seconds % 60) + "s";
  return seconds < 60 ? rest : std::to_string(seconds / 60) + "m" + rest;
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

// As a kubelet with ResourceHealthStatus publishes devices. A slot's name is its number: what the
// container reads in CUDA_VISIBLE_DEVICES.
Json AllocatedResources(const std::vector<int>& gpus) {
  Json devices = Json::array();
  for (const int slot : gpus) {
    devices.push_back({{"resourceID", std::to_string(slot)}, {"health", "Healthy"}});
  }
  return Json::array({{{"name", kGpuResource}, {"resources", std::move(devices)}}});
}

class PodPlanner {
 public:
  PodPlanner(const Json& pod, const std::map<std::string, ContainerRuns>& runs,
             Clock::WallTime now);
  PodPlan Plan();

 private:
  // What becomes of one container.
  enum class Outcome {
    kAlive,      // Runs, or will.
    kUntouched,  // Will never be started, because the pod is at its end.
    kSucceeded,
    kFailed,
  };
  // Whether a container may be started, and what it waits for if not.
  enum class Turn { kNow, kLater };

  void CheckDeadline();
  void PlanInitContainers();
  Outcome PlanContainer(const Json& container, Turn turn, bool init, Json* statuses);
  Outcome PlanNew(const std::string& name, const ContainerRuns& runs, Turn turn, Json* state);
  Outcome PlanEnded(const std::string& name, const ContainerRuns& runs, bool init, Json* state);
  void PlanStop(const std::string& name, const ContainerRuns& runs);
  bool Restarts(int exit_code, bool init) const;
  std::string Phase() const;
  void SetImageCondition();
  void SetCondition(const char* type, bool value, const char* reason, const std::string& message);
  void WakeAt(Clock::WallTime at);

  const Json& pod_;
  const std::map<std::string, ContainerRuns>& runs_;
  const Clock::WallTime now_;
  Json status_;
  bool terminal_ = false;
  bool refused_ = false;  // By its node, before any of its containers had a status.
  std::optional<Clock::WallTime> deletion_;

  PodPlan plan_;
  std::vector<std::string> unready_;
  std::vector<std::string> uninitialized_;
  std::map<Outcome, int> init_;  // How many there are of each.
  std::map<Outcome, int> main_;
  bool main_started_ = false;
};

PodPlanner::PodPlanner(const Json& pod, const std::map<std::string, ContainerRuns>& runs,
                       Clock::WallTime now)
    : pod_(pod), runs_(runs), now_(now), status_(Member(pod, "status")) {
  if (!status_.is_object()) status_ = Json::object();
  if (Text(status_, "startTime").empty()) status_["startTime"] = FormatRfc3339(now_);
  const std::string phase = Text(status_, "phase");
  terminal_ = phase == "Succeeded" || phase == "Failed";
  refused_ = terminal_ && !status_.contains("containerStatuses");
  const std::string deletion = Text(Member(pod, "metadata"), "deletionTimestamp");
  Clock::WallTime at{};
  if (!deletion.empty() && ParseRfc3339(deletion, &at)) deletion_ = at;
  CheckDeadline();
}

// spec.activeDeadlineSeconds, counted from the pod's start.
void PodPlanner::CheckDeadline() {
  const int64_t seconds = Whole(Member(pod_, "spec"), "activeDeadlineSeconds", -1);
  Clock::WallTime start{};
  // A deadline that no clock reaches is none.
  constexpr int64_t kDeadlineMax = int64_t{100} * 365 * 86'400;
  if (terminal_ || seconds < 0 || seconds > kDeadlineMax) return;
  if (!ParseRfc3339(Text(status_, "startTime"), &start)) return;
  const Clock::WallTime deadline = start + std::chrono::seconds(seconds);
  if (now_ < deadline) return WakeAt(deadline);
  terminal_ = true;
  status_["phase"] = "Failed";
  status_["reason"] = "DeadlineExceeded";
  status_["message"] = kDeadlineMessage;
}

bool PodPlanner::Restarts(int exit_code, bool init) const {
  if (terminal_ || deletion_.has_value()) return false;
  const std::string policy = Text(Member(pod_, "spec"), "restartPolicy");
  if (policy == "Never") return false;
  // Once an init container has succeeded it has done its work.
  return exit_code != 0 || (policy != "OnFailure" && !init);
}

void PodPlanner::WakeAt(Clock::WallTime at) {
  plan_.wake_at = plan_.wake_at.has_value() ? std::min(*plan_.wake_at, at) : at;
}

PodPlanner::Outcome PodPlanner::PlanNew(const std::string& name, const ContainerRuns& runs,
                                        Turn turn, Json* state) {
  if (deletion_.has_value() && runs.number >= 0) {
    // A shim may be on its way to claim this run: it finds the stop and does not start it.
    plan_.stops.push_back({name, runs.number, 0ms});
  }
  if (deletion_.has_value() || terminal_) return Outcome::kUntouched;
  if (turn == Turn::kNow) {
    plan_.starts.push_back({name, std::max(runs.number, 0)});
    if (runs.problem.has_value()) *state = Waiting(runs.problem->reason, runs.problem->message);
  }
  return Outcome::kAlive;
}

// The container has ended: for good, or until its next run.
PodPlanner::Outcome PodPlanner::PlanEnded(const std::string& name, const ContainerRuns& runs,
                                          bool init, Json* state) {
  const ExitRecord& exit = *runs.run.exit;
  if (!Restarts(exit.exit_code, init)) {
    return exit.exit_code == 0 ? Outcome::kSucceeded : Outcome::kFailed;
  }
  const std::chrono::seconds delay = RestartDelay(runs.crashes);
  const Clock::WallTime at = exit.finished_at + delay;
  if (now_ >= at) {
    plan_.starts.push_back({name, runs.number + 1});
    if (runs.problem.has_value()) *state = Waiting(runs.problem->reason, runs.problem->message);
    return Outcome::kAlive;
  }
  WakeAt(at);
  const Json& meta = Member(pod_, "metadata");
  *state = Waiting("CrashLoopBackOff", "back-off " + GoDuration(delay) +
                                           " restarting failed container=" + name + " pod=" +
                                           Text(meta, "name") + "_" + Text(meta, "namespace") +
                                           "(" + Text(meta, "uid") + ")");
  return Outcome::kAlive;
}

void PodPlanner::PlanStop(const std::string& name, const ContainerRuns& runs) {
  if (deletion_.has_value()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deletion_ - now_);
    plan_.stops.push_back({name, runs.number, std::max(left, 0ms)});
  } else if (terminal_) {
    plan_.stops.push_back({name, runs.number, 0ms});
  }
}

PodPlanner::Outcome PodPlanner::PlanContainer(const Json& container, Turn turn, bool init,
                                              Json* statuses) {
  const std::string name = Text(container, "name");
  const auto found = runs_.find(name);
  const ContainerRuns runs = found == runs_.end() ? ContainerRuns() : found->second;
  const std::string id_stem = "taas://" + Text(Member(pod_, "metadata"), "uid") + "/" + name + "/";
  // As the kubelet says it of all containers of a pod that has init containers.
  const bool inits = !Elements(Member(pod_, "spec"), "initContainers").empty();
  Json state = Waiting(inits ? "PodInitializing" : "ContainerCreating", "");
  Json last = Json::object();
  bool running = false;
  Outcome outcome = Outcome::kAlive;
  switch (runs.run.phase) {
    case RunPhase::kNew: outcome = PlanNew(name, runs, turn, &state); break;
    case RunPhase::kStarting:
    case RunPhase::kRunning:
      if (runs.run.phase == RunPhase::kRunning) {
        running = true;
        state = {{"running", {{"startedAt", FormatRfc3339(runs.run.state->started_at)}}}};
      }
      PlanStop(name, runs);
      break;
    case RunPhase::kEnded:
      state = Terminated(*runs.run.exit, id_stem + std::to_string(runs.number));
      last = state;
      outcome = PlanEnded(name, runs, init, &state);
      if (state == last) last = Json::object();
      break;
  }
  if (last.empty() && runs.previous.has_value()) {
    last = Terminated(*runs.previous, id_stem + std::to_string(runs.number - 1));
  }
  // An init container is ready when it has done its work.
  const bool ready =
      init ? outcome == Outcome::kSucceeded : running && !deletion_.has_value();
  if (!ready) (init ? uninitialized_ : unready_).push_back(name);
  if (!init && runs.run.phase != RunPhase::kNew) main_started_ = true;
  const std::string id = runs.number >= 0 ? id_stem + std::to_string(runs.number) : "";
  statuses->push_back({{"name", name},
                       {"image", Text(container, "image")},
                       {"imageID", ""},
                       {"containerID", id},
                       {"ready", ready},
                       {"started", running},
                       {"restartCount", std::max(runs.number, 0)},
                       {"state", state},
                       {"lastState", last}});
  // Of an init container a kubelet does not tell: it uses what the others will have.
  if (!init && !runs.gpus.empty()) {
    statuses->back()["allocatedResourcesStatus"] = AllocatedResources(runs.gpus);
  }
  return outcome;
}

// One after the other: each waits for the success of those before it.
void PodPlanner::PlanInitContainers() {
  const Json& containers = Elements(Member(pod_, "spec"), "initContainers");
  if (containers.empty()) return;
  Json statuses = Json::array();
  Turn turn = Turn::kNow;
  for (const Json& container : containers) {
    const Outcome outcome = PlanContainer(container, turn, /*init=*/true, &statuses);
    ++init_[outcome];
    if (outcome != Outcome::kSucceeded) turn = Turn::kLater;
  }
  if (!refused_) status_["initContainerStatuses"] = statuses;
}

std::string PodPlanner::Phase() const {
  const auto count = [](const std::map<Outcome, int>& outcomes, Outcome outcome) {
    const auto found = outcomes.find(outcome);
    return found == outcomes.end() ? 0 : found->second;
  };
  if (terminal_) return Text(status_, "phase");
  if (count(init_, Outcome::kFailed) > 0) return "Failed";
  const bool open = count(main_, Outcome::kAlive) > 0 || count(main_, Outcome::kUntouched) > 0;
  if (!open && main_started_) {
    return count(main_, Outcome::kFailed) > 0 ? "Failed" : "Succeeded";
  }
  return main_started_ ? "Running" : "Pending";
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

// Stays with the pod, for those who ask later why it failed.
void PodPlanner::SetImageCondition() {
  std::string notes;
  for (const char* list : {"containers", "initContainers"}) {
    for (const Json& container : Elements(Member(pod_, "spec"), list)) {
      const std::string note = ImageNote(container);
      if (!note.empty()) notes += (notes.empty() ? "" : "; ") + note;
    }
  }
  if (notes.empty()) return;
  SetCondition(kImagePulledCondition.data(), false, "ImageNotPulled", notes);
}

PodPlan PodPlanner::Plan() {
  PlanInitContainers();
  const Turn turn = uninitialized_.empty() ? Turn::kNow : Turn::kLater;
  Json statuses = Json::array();
  for (const Json& container : Elements(Member(pod_, "spec"), "containers")) {
    ++main_[PlanContainer(container, turn, /*init=*/false, &statuses)];
  }
  const std::string phase = Phase();
  status_["phase"] = phase;
  status_["hostIP"] = kLoopback;
  status_["podIP"] = kLoopback;
  status_["podIPs"] = Json::array({{{"ip", kLoopback}}});
  if (!refused_) status_["containerStatuses"] = statuses;

  const auto list = [](const char* what, const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : " ") + name;
    return out.empty() ? out : std::string("containers with ") + what + " status: [" + out + "]";
  };
  const char* reason = phase == "Succeeded" ? "PodCompleted"
                       : phase == "Failed"  ? "PodFailed"
                                            : "ContainersNotReady";
  SetCondition("PodScheduled", true, "", "");
  SetCondition("Initialized", uninitialized_.empty(), "ContainersNotInitialized",
               list("incomplete", uninitialized_));
  SetCondition("ContainersReady", unready_.empty(), reason, list("unready", unready_));
  SetCondition("Ready", unready_.empty(), reason, list("unready", unready_));
  SetImageCondition();
  plan_.status = status_.dump(-1, ' ', false, Json::error_handler_t::replace);
  // Whatever runs has been told to end; what has not been started never will be.
  plan_.confirm_deletion =
      deletion_.has_value() && init_[Outcome::kAlive] == 0 && main_[Outcome::kAlive] == 0;
  return std::move(plan_);
}

}  // namespace

PodPlan PlanPod(const Json& pod, const std::map<std::string, ContainerRuns>& runs,
                Clock::WallTime now) {
  return PodPlanner(pod, runs, now).Plan();
}

std::chrono::seconds RestartDelay(int crashes) {
  if (crashes <= 1) return 0s;
  const int doublings = std::min(crashes, kCrashesMax) - 2;
  return std::min(kFirstRestartDelay * (1 << doublings), kRestartDelayMax);
}

bool IsCrash(const ExitRecord& exit) { return exit.finished_at - exit.started_at < kCrashMemory; }

}  // namespace taas::localkube
