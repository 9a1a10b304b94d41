// The words that users of TFJobs, and programs that read them, expect in conditions and events.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const ConditionText text = OutcomeText(job, ledger);  // "TFJobFailed", "TFJob …"

#ifndef OPERATOR_PLAN_TFJOB_TEXT_H_
#define OPERATOR_PLAN_TFJOB_TEXT_H_

#include <string>

#include "operator/api/job.h"

namespace taas {

struct ConditionText {
  std::string reason;
  std::string message;
};

// Of the condition Succeeded or Failed, for a ledger with an outcome. A TrainingJob's is what the
// ledger says; a TFJob's has the form that its readers know.
ConditionText OutcomeText(const Job& job, const Ledger& ledger);

ConditionText TfJobCreated(const Job& job);
ConditionText TfJobRunning(const Job& job);
ConditionText TfJobRestarting(const Job& job, Role role);
ConditionText TfJobSuspended(const Job& job);
ConditionText TfJobResumed(const Job& job);

// Reasons of a ledger's outcome that more than one place looks at.
inline constexpr char kReplicaFailed[] = "ReplicaFailed";
inline constexpr char kBackoffLimitExceeded[] = "BackoffLimitExceeded";
inline constexpr char kDeadlineExceeded[] = "DeadlineExceeded";
// Of the condition Failed of a TFJob that cannot be followed.
inline constexpr char kFailedValidation[] = "TFJobFailedValidation";

}  // namespace taas

#endif  // OPERATOR_PLAN_TFJOB_TEXT_H_
