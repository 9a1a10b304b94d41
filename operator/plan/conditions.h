// The conditions of a job, in the form of its kind.
//
// A TrainingJob has one of each type, in a fixed order, and their status says what holds. Readers
// of TFJobs take the last one for the job's state, so there the order is the history, and Running
// and Restarting take each other's place.
//
// Ownership: values. Threads: any. Errors: none.
//
//   status.conditions = DeriveConditions(snapshot, ledger, tally, status);

#ifndef OPERATOR_PLAN_CONDITIONS_H_
#define OPERATOR_PLAN_CONDITIONS_H_

#include <string_view>
#include <vector>

#include "operator/plan/tally.h"

namespace taas {

// True while the operator itself fails at this job.
inline constexpr std::string_view kInternalErrorCondition = "InternalError";

// True while another controller is at work on the TFJob. It stands before all others, whose last
// one is the job's state.
inline constexpr std::string_view kRefusedCondition = "Refused";

// Of `status` state, ready and message are read.
std::vector<Condition> DeriveConditions(const Snapshot& snapshot, const Ledger& ledger,
                                        const Tally& tally, const JobStatus& status);

// The conditions that the TFJob has, and one that says why nothing is done for it.
std::vector<Condition> WithRefusal(const Snapshot& snapshot, const std::string& why);

// The conditions that the job has, and one that says that it cannot be planned.
std::vector<Condition> WithInternalError(const Snapshot& snapshot, const std::string& what);

}  // namespace taas

#endif  // OPERATOR_PLAN_CONDITIONS_H_
