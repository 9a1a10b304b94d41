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

#include "operator/plan/snapshot.h"
#include "operator/plan/tally.h"
#include "operator/plan/template_words.h"

namespace taas {

// True while the operator itself fails at this job.
inline constexpr std::string_view kInternalErrorCondition = "InternalError";

// True while another controller is at work on the TFJob, or while the API server refuses what is to
// be done for it. It stands before all others, whose last one is the job's state. A TrainingJob
// says so in its condition Scheduled.
inline constexpr std::string_view kRefusedCondition = "Refused";

// True while the API server warns of the pods that were made: they are not all that a template
// says. Of a TFJob it stands before all others; a TrainingJob says so in its condition Created, as
// earlier definitions of the kind take no other types.
inline constexpr std::string_view kTemplateWarningCondition = "TemplateWarning";

// What it has warned of, or what the job's status says of it where no pod was made since.
TemplateWarning TemplateWarningOf(const Snapshot& snapshot);

// Of `status` state, ready and message are read.
std::vector<Condition> DeriveConditions(const Snapshot& snapshot, const Ledger& ledger,
                                        const Tally& tally, const JobStatus& status);

// The conditions that the TFJob has, and one that says why nothing is done for it.
std::vector<Condition> WithRefusal(const Snapshot& snapshot, const std::string& why);

// The conditions that the job has, and one that says that it cannot be planned.
std::vector<Condition> WithInternalError(const Snapshot& snapshot, const std::string& what);

}  // namespace taas

#endif  // OPERATOR_PLAN_CONDITIONS_H_
