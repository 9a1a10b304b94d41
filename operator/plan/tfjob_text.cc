#include "operator/plan/tfjob_text.h"

#include "operator/api/dialect.h"

namespace taas {
namespace {

std::string FullName(const Job& job) { return "TFJob " + job.meta.ns + "/" + job.meta.name; }

// The role whose replica ended the job, and how many of its replicas failed for good.
std::string FailedReplicas(const Job& job, const Ledger& ledger) {
  for (const auto& [role, entries] : ledger.replicas) {
    int32_t failed = 0;
    for (const auto& [index, entry] : entries) failed += entry.failed ? 1 : 0;
    if (failed == 0 || role == Role::kEvaluator) continue;
    const std::string key(RoleKeyIn(job, role));
    const auto spec = job.spec.roles.find(role);
    if (spec != job.spec.roles.end() && spec->second.restart_policy == RestartPolicy::kExitCode) {
      return "job \"" + job.meta.name + "\" is failing because \"" + key +
             "\" replica(s) failed.";
    }
    return FullName(job) + " has failed because " + std::to_string(failed) + " " + key +
           " replica(s) failed.";
  }
  return "";
}

// The sentence that readers know, and then what they look for elsewhere: which replica, and why.
std::string WithCause(const std::string& known, const std::string& cause) {
  if (cause.empty()) return known;
  return known + (known.ends_with('.') ? " " : ": ") + cause;
}

}  // namespace

ConditionText OutcomeText(const Job& job, const Ledger& ledger) {
  // The latter: the ledger was wiped and rebuilt from the conditions.
  if (job.kind != JobKind::kTfJob || ledger.outcome_reason.starts_with("TFJob")) {
    return {ledger.outcome_reason, ledger.outcome_message};
  }
  const std::string& cause = ledger.outcome_message;
  if (ledger.outcome == JobState::kSucceeded) {
    return {"TFJobSucceeded",
            WithCause(FullName(job) + " successfully completed.", ledger.outcome_remark)};
  }
  const std::string failed = "Job " + job.meta.name + " has failed because it ";
  if (ledger.outcome_reason == kReplicaFailed) {
    const std::string replicas = FailedReplicas(job, ledger);
    if (replicas.empty()) return {"TFJobFailed", FullName(job) + " has failed: " + cause};
    return {"TFJobFailed", WithCause(replicas, cause)};
  }
  if (ledger.outcome_reason == kBackoffLimitExceeded) {
    return {"TFJobFailed", WithCause(failed + "has reached the specified backoff limit", cause)};
  }
  if (ledger.outcome_reason == kDeadlineExceeded) {
    return {"TFJobFailed",
            WithCause(failed + "was active longer than specified deadline",
                      ledger.outcome_remark)};
  }
  return {kFailedValidation,
          FullName(job) + " has failed because the spec is invalid: " + ledger.outcome_message};
}

ConditionText TfJobCreated(const Job& job) {
  return {"TFJobCreated", "TFJob " + job.meta.name + " is created."};
}

ConditionText TfJobRunning(const Job& job) {
  return {"TFJobRunning", FullName(job) + " is running."};
}

ConditionText TfJobRestarting(const Job& job, Role role) {
  return {"TFJobRestarting", "job " + job.meta.name + " is restarting because " +
                                 std::string(RoleKeyIn(job, role)) + " replica(s) failed."};
}

ConditionText TfJobSuspended(const Job& job) {
  return {"TFJobSuspended", "TFJob " + job.meta.name + " is suspended."};
}

ConditionText TfJobResumed(const Job& job) {
  return {"TFJobResumed", "TFJob " + job.meta.name + " is resumed."};
}

}  // namespace taas
