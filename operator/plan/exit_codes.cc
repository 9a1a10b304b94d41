#include "operator/plan/exit_codes.h"

#include <algorithm>
#include <array>
#include <vector>

#include "operator/plan/trainer_report.h"

namespace taas {
namespace {

// status.reason of pods that the node or the control plane ended though they may have run; none
// says anything about the program inside. Of NodeAffinity and the like: a node that comes back
// looks at its pods anew.
constexpr std::array<std::string_view, 10> kEndedFromOutside = {
    "Evicted",      "Preempting", "Preempted",    "NodeShutdown",      "Shutdown",
    "Terminated",   "NodeAffinity", "UnexpectedAdmissionError", "TerminationByKubelet",
    "DeletionByTaintManager"};

// The pod's own activeDeadlineSeconds have passed: the one reason for which a node gives up a pod
// that it had taken, and perhaps not started yet, for the pod's own sake.
constexpr std::string_view kDeadlineOfPod = "DeadlineExceeded";

bool EndedFromOutside(const Pod& pod) {
  if (WasTurnedAway(pod)) return true;
  for (const std::string_view known : kEndedFromOutside) {
    if (pod.reason == known) return true;
  }
  return pod.reason.str().starts_with("OutOf");  // OutOfcpu, OutOfmemory, OutOfpods, …
}

bool Contains(const std::vector<int32_t>& codes, int code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

bool IsKill(int exit_code) { return exit_code == 130 || exit_code == 137 || exit_code == 143; }

RestartCause CauseOf(int exit_code, std::string_view reason, const EndRules& rules) {
  if (reason == "OOMKilled") return RestartCause::kOutOfMemory;
  const bool says_bad_node =
      rules.bundled_trainer || Contains(rules.exit_codes.retryable, kExitBadNode);
  if (exit_code == kExitBadNode && says_bad_node) return RestartCause::kBadNode;
  return IsKill(exit_code) ? RestartCause::kKilled : RestartCause::kUserError;
}

// Of policy ExitCode. The lists go before all else.
bool IsRetryable(int exit_code, std::string_view reason, const EndRules& rules) {
  if (Contains(rules.exit_codes.permanent, exit_code)) return false;
  if (Contains(rules.exit_codes.retryable, exit_code)) return true;
  if (reason == "OOMKilled" || (rules.bundled_trainer && exit_code == kExitBadNode)) return true;
  if (rules.exit_codes.preset == ExitCodeRules::Preset::kAtLeast128) return exit_code >= 128;
  return IsKill(exit_code) || exit_code == kExitRestartMe;
}

// A pod that failed without an exit code and without a sign that it was ended from outside.
Verdict ClassifyUnexplained(const EndRules& rules) {
  const bool node_restarts =
      rules.policy == RestartPolicy::kAlways || rules.policy == RestartPolicy::kOnFailure;
  // As training-operator does with a pod that has no status of its container.
  const bool retryable = rules.policy == RestartPolicy::kExitCode &&
                         rules.exit_codes.preset == ExitCodeRules::Preset::kAtLeast128;
  if (node_restarts || retryable) return {End::kRestart, RestartCause::kUserError};
  return {End::kPermanent};
}

// Programs that trap SIGTERM often exit with 0 then, within the second that times are told in. The
// bundled trainer does not.
bool WasToldToStop(const Pod& pod, const EndRules& rules) {
  if (rules.bundled_trainer || !pod.meta.deletion_time.has_value()) return false;
  const Clock::WallTime told = *pod.meta.deletion_time - pod.deletion_grace;
  return !pod.finished_at.has_value() || *pod.finished_at >= told;
}

// Up to this code a program speaks for itself, or could not be started; those above are signals.
constexpr int kStartErrorCode = 128;

std::string Describe(const std::optional<int32_t>& exit_code, const std::string& reason,
                     const std::string& otherwise, const std::string& said,
                     const std::string& image_note) {
  std::string text = otherwise;
  if (exit_code.has_value()) {
    text = "exit code " + std::to_string(*exit_code);
    if (!reason.empty() && reason != "Error" && reason != "Completed") text += " (" + reason + ")";
  }
  if (!said.empty()) text += ": " + said;
  // The program that failed may be another than the one that the user meant.
  const int32_t code = exit_code.value_or(0);
  const bool by_itself = code > 0 && code <= kStartErrorCode;
  return by_itself && !image_note.empty() ? text + " (" + image_note + ")" : text;
}

}  // namespace

EndRules EndRulesOf(const JobSpec& spec, Role role) {
  EndRules rules{.exit_codes = spec.exit_codes, .bundled_trainer = spec.bundled_trainer};
  const auto found = spec.roles.find(role);
  if (found != spec.roles.end()) rules.policy = found->second.restart_policy;
  return rules;
}

bool WasTurnedAway(const Pod& pod) {
  return pod.phase == PodPhase::kFailed && !pod.meta.deletion_time.has_value() && !pod.started &&
         !pod.started_at.has_value() && !pod.exit_code.has_value() && pod.restart_count == 0 &&
         !pod.reason.empty() && pod.reason != kDeadlineOfPod;
}

LastRun LastRunOf(const Pod& pod) {
  if (pod.init != nullptr && pod.init->last_exit_code.has_value()) {
    return {pod.init->last_exit_code, pod.init->last_exit_reason, /*of_init=*/true};
  }
  return {pod.last_exit_code, pod.last_exit_reason.str()};
}

EndRules OfInitContainer(EndRules rules) {
  rules.bundled_trainer = false;
  return rules;
}

Verdict ClassifyExit(int exit_code, std::string_view reason, const EndRules& rules) {
  if (exit_code == 0) {
    // The bundled trainer says 0 only at the end of the job, which no policy can take back.
    const bool goes_on = rules.policy == RestartPolicy::kAlways && !rules.bundled_trainer;
    return goes_on ? Verdict{End::kRestart} : Verdict{End::kCompleted};
  }
  if (rules.policy == RestartPolicy::kNever) return {End::kPermanent};
  if (rules.policy == RestartPolicy::kExitCode && !IsRetryable(exit_code, reason, rules)) {
    return {End::kPermanent};
  }
  return {End::kRestart, CauseOf(exit_code, reason, rules)};
}

Verdict ClassifyEnd(const Pod& pod, const EndRules& rules) {
  const bool ended_well =
      pod.phase == PodPhase::kSucceeded ||
      (pod.phase != PodPhase::kFailed && pod.container_ended && pod.exit_code == 0);
  if (ended_well && !WasToldToStop(pod, rules)) return ClassifyExit(0, pod.exit_reason, rules);
  if (pod.node_lost) return {End::kRestart, RestartCause::kNodeLost};
  if (pod.disrupted || pod.meta.deletion_time.has_value() || EndedFromOutside(pod)) {
    return {End::kRestart, RestartCause::kPreempted};
  }
  if (!pod.exit_code.has_value() && pod.init != nullptr && pod.init->exit_code.has_value()) {
    return ClassifyExit(*pod.init->exit_code, pod.init->exit_reason, OfInitContainer(rules));
  }
  if (!pod.exit_code.has_value()) return ClassifyUnexplained(rules);
  // A sidecar can fail a pod whose main container had already completed.
  return ClassifyExit(*pod.exit_code, pod.exit_reason, rules);
}

std::string DescribeEnd(const Pod& pod) {
  if (!pod.exit_code.has_value() && pod.init != nullptr && pod.init->exit_code.has_value()) {
    const InitContainer& init = *pod.init;
    return "init container " + init.name + ": " +
           Describe(init.exit_code, init.exit_reason, "",
                    MessageOfTermination(init.termination_message), pod.image_note);
  }
  const std::string said = MessageOfTermination(pod.termination_message);
  return Describe(pod.exit_code, pod.exit_reason,
                  pod.reason.empty() ? "ended without an exit code" : pod.reason.str(),
                  said.empty() ? pod.message.str() : said, pod.image_note);
}

std::string DescribeLastRun(const Pod& pod) {
  if (LastRunOf(pod).of_init) {
    const InitContainer& init = *pod.init;
    return "init container " + init.name + ": " +
           Describe(init.last_exit_code, init.last_exit_reason, "",
                    MessageOfTermination(init.last_termination_message), pod.image_note);
  }
  return Describe(pod.last_exit_code, pod.last_exit_reason, "ended without an exit code",
                  MessageOfTermination(pod.last_termination_message), pod.image_note);
}

}  // namespace taas
