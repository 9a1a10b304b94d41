#include "dashboard/server/health.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;

// A pod that has ended is replaced within moments; one that is still there is not.
constexpr auto kReplacedWithin = 10s;
// Pulling an image takes a minute and is nothing to look at.
constexpr auto kOrdinaryWait = 60s;
// A scheduler finds a place at once or has to wait for others to go.
constexpr auto kUnscheduledWarning = 10s;
constexpr auto kUnscheduledCritical = 5min;
// What a node may need beyond a pod's grace period.
constexpr auto kTerminationSlack = 30s;
// How long a restart is worth a look.
constexpr auto kRestartIsRecent = 10min;
// A replica whose program has ended by itself so often, lately, will do so again, unless its pod of
// now has already run for a while.
constexpr int kLoopEnds = 3;
constexpr auto kLoopWithin = 30min;  // The operator waits up to 5 minutes before each.
constexpr auto kSteadyRun = 60s;
// Longer than a checkpoint or an evaluation takes; steps are polled every 5 s.
constexpr auto kStandstill = 5min;

constexpr std::array kImageReasons = {"ErrImagePull", "ImagePullBackOff", "InvalidImageName",
                                      "ErrImageNeverPull", "ImageInspectError"};
constexpr std::array kConfigReasons = {"CreateContainerConfigError", "CreateContainerError",
                                       "RunContainerError", "PostStartHookError"};

template <typename Names>
bool IsOneOf(const Names& names, std::string_view text) {
  for (const std::string_view name : names) {
    if (name == text) return true;
  }
  return false;
}

Health Worse(Health a, Health b) { return b.level > a.level ? b : a; }

Health HealthOfWaiting(const Pod& pod, Clock::WallTime now) {
  const std::string& reason = pod.waiting_reason;
  if (reason == "CrashLoopBackOff") {
    const bool memory = pod.last_exit_reason == "OOMKilled";
    return {Level::kCritical, memory ? "OutOfMemory" : "CrashLoop"};
  }
  if (IsOneOf(kImageReasons, reason)) return {Level::kCritical, "ImagePull"};
  if (IsOneOf(kConfigReasons, reason)) return {Level::kCritical, "ConfigError"};
  const auto age = now - pod.meta.creation_time.value_or(now);
  if (pod.node.empty() && !pod.unschedulable_reason.empty()) {
    if (age < kUnscheduledWarning) return {};
    return {age < kUnscheduledCritical ? Level::kWarning : Level::kCritical, "Unschedulable"};
  }
  if (pod.phase == PodPhase::kPending && age >= kOrdinaryWait) {
    return {Level::kWarning, "PendingLong"};
  }
  return {};
}

Health HealthOfEnd(const Pod& pod, Clock::WallTime now) {
  if (pod.phase == PodPhase::kSucceeded) return {};
  const bool memory = pod.exit_reason == "OOMKilled";
  const bool fresh = now - pod.finished_at.value_or(now) < kReplacedWithin;
  return {fresh ? Level::kWarning : Level::kCritical, memory ? "OutOfMemory" : "PodFailed"};
}

bool IsOwnFault(RestartCause cause) {
  return cause == RestartCause::kUserError || cause == RestartCause::kOutOfMemory;
}

// Of the replica that was restarted last; its pods are made anew, so none of them says it.
Health HealthOfRestarts(const JobToJudge& judged) {
  const std::vector<RestartRecord>& history = judged.job.status.history;
  if (history.empty() || judged.now - history.back().time >= kRestartIsRecent) return {};
  const RestartRecord& last = history.back();
  if (!IsOwnFault(last.cause)) return {};
  const bool memory = last.cause == RestartCause::kOutOfMemory;
  const Health once = memory ? Health{Level::kWarning, "OutOfMemory"} : Health{};
  const auto ends = std::count_if(history.begin(), history.end(), [&](const auto& end) {
    return end.role == last.role && end.index == last.index && IsOwnFault(end.cause) &&
           judged.now - end.time < kLoopWithin;
  });
  if (ends < kLoopEnds) return once;
  for (const auto& pod : judged.pods) {
    const bool is_it = pod->role == last.role && pod->index == last.index;
    const bool runs = pod->phase == PodPhase::kRunning && pod->started_at.has_value();
    if (is_it && runs && judged.now - *pod->started_at >= kSteadyRun) return once;
  }
  return {Level::kCritical, memory ? "OutOfMemory" : "CrashLoop"};
}

std::string Joined(const std::string& reason, const std::string& message) {
  if (reason.empty() || message.empty()) return reason + message;
  return reason + ": " + message;
}

}  // namespace

std::string_view LevelName(Level level) {
  switch (level) {
    case Level::kOk: return "ok";
    case Level::kWarning: return "warning";
    case Level::kCritical: return "critical";
  }
  return "ok";
}

std::string_view PodState(const Pod& pod) {
  if (pod.meta.deletion_time.has_value() && !HasStopped(pod)) return "Terminating";
  switch (pod.phase) {
    case PodPhase::kPending: return "Pending";
    case PodPhase::kRunning:
      // Its program does not run: its node waits before it starts it again.
      return IsOrdinaryWait(pod.waiting_reason) ? "Running" : "Waiting";
    case PodPhase::kSucceeded: return "Succeeded";
    case PodPhase::kFailed: return "Failed";
    case PodPhase::kUnknown: return "Unknown";
  }
  return "Unknown";
}

Health HealthOfPod(const Pod& pod, Clock::WallTime now) {
  if (HasStopped(pod)) return HealthOfEnd(pod, now);
  if (pod.node_lost) return {Level::kCritical, "NodeLost"};
  if (pod.meta.deletion_time.has_value()) {
    const bool late = now - *pod.meta.deletion_time >= kTerminationSlack;
    return late ? Health{Level::kWarning, "TerminatingLong"} : Health{};
  }
  Health health = HealthOfWaiting(pod, now);
  if (pod.node_silent) health = Worse(health, {Level::kWarning, "NodeSilent"});
  return health;
}

std::string WhyOfPod(const Pod& pod) {
  if (pod.phase == PodPhase::kSucceeded) return "";
  if (pod.phase == PodPhase::kFailed) {
    const std::string& last_words = pod.termination_message;
    if (!pod.reason.empty()) return Joined(pod.reason, pod.message);
    return Joined(pod.exit_reason, last_words);
  }
  if (!IsOrdinaryWait(pod.waiting_reason)) {
    // Why it crashes says more than how long its node waits.
    const std::string& last_words = pod.last_termination_message;
    return Joined(pod.waiting_reason, last_words.empty() ? pod.waiting_message.str() : last_words);
  }
  if (pod.node.empty()) return Joined(pod.unschedulable_reason, pod.unschedulable_message);
  return pod.image_note;
}

bool StandsStill(const JobToJudge& judged) {
  return judged.job.status.state == JobState::kRunning && judged.step_since.has_value() &&
         judged.now - *judged.step_since >= kStandstill;
}

Health HealthOf(const JobToJudge& judged) {
  const JobStatus& status = judged.job.status;
  if (status.state == JobState::kFailed) return {Level::kCritical, "Failed"};
  if (status.state == JobState::kSucceeded || status.state == JobState::kSuspended) return {};
  Health health;
  for (const auto& pod : judged.pods) health = Worse(health, HealthOfPod(*pod, judged.now));
  health = Worse(health, HealthOfRestarts(judged));
  if (status.state == JobState::kRestarting) {
    health = Worse(health, {Level::kWarning, "Restarting"});
  }
  const bool recent = !status.history.empty() &&
                      judged.now - status.history.back().time < kRestartIsRecent;
  if (recent) health = Worse(health, {Level::kWarning, "RestartedLately"});
  const auto age = judged.now - judged.job.meta.creation_time.value_or(judged.now);
  if (status.state == JobState::kPending && judged.pods.empty() && age >= kOrdinaryWait) {
    health = Worse(health, {Level::kWarning, "PendingLong"});
  }
  if (StandsStill(judged)) health = Worse(health, {Level::kWarning, "NoProgress"});
  if (judged.loss_rises) health = Worse(health, {Level::kWarning, "LossRises"});
  return health;
}

}  // namespace taas::dashboard
