#include "operator/plan/exit_codes.h"

#include <array>

#include "operator/plan/trainer_report.h"

namespace taas {
namespace {

// status.reason of pods that the node or the control plane ended or turned away; none says anything
// about the program inside.
constexpr std::array<std::string_view, 10> kEndedFromOutside = {
    "Evicted",      "Preempting", "Preempted",    "NodeShutdown",      "Shutdown",
    "Terminated",   "NodeAffinity", "UnexpectedAdmissionError", "TerminationByKubelet",
    "DeletionByTaintManager"};

bool EndedFromOutside(std::string_view reason) {
  for (const std::string_view known : kEndedFromOutside) {
    if (reason == known) return true;
  }
  return reason.starts_with("OutOf");  // OutOfcpu, OutOfmemory, OutOfpods, …: the node had no room.
}

}  // namespace

Verdict ClassifyExit(int exit_code, std::string_view reason) {
  if (exit_code == 0) return {End::kCompleted};
  if (reason == "OOMKilled") return {End::kRestart, RestartCause::kOutOfMemory};
  switch (exit_code) {
    case kExitBadNode:
      return {End::kRestart, RestartCause::kBadNode};
    case kExitRestartMe:
      return {End::kRestart, RestartCause::kUserError};
    case 130:
    case 137:
    case 143:
      return {End::kRestart, RestartCause::kKilled};
    default:
      return {End::kPermanent};
  }
}

Verdict ClassifyEnd(const Pod& pod) {
  if (pod.phase == PodPhase::kSucceeded) return {End::kCompleted};
  if (pod.reason == "NodeLost") return {End::kRestart, RestartCause::kNodeLost};
  if (pod.disrupted || pod.meta.deletion_time.has_value() || EndedFromOutside(pod.reason)) {
    return {End::kRestart, RestartCause::kPreempted};
  }
  if (pod.exit_code.has_value()) return ClassifyExit(*pod.exit_code, pod.exit_reason);
  return {End::kPermanent};
}

std::string DescribeEnd(const Pod& pod) {
  std::string text;
  if (pod.exit_code.has_value()) {
    text = "exit code " + std::to_string(*pod.exit_code);
    if (!pod.exit_reason.empty() && pod.exit_reason != "Error" && pod.exit_reason != "Completed") {
      text += " (" + pod.exit_reason + ")";
    }
  } else {
    text = pod.reason.empty() ? std::string("ended without an exit code") : pod.reason;
  }
  const std::string said = MessageOfTermination(pod.termination_message);
  if (!said.empty()) {
    text += ": " + said;
  } else if (!pod.message.empty()) {
    text += ": " + pod.message;
  }
  return text;
}

}  // namespace taas
