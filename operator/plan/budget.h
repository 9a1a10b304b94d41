// Whom backoffLimit counts a restart against: the training, or a replica that it can do without.
//
// Ownership: values. Threads: any. Errors: none.
//
//   if (UsedBudget(job, ledger, role, index) >= *job.spec.backoff_limit) …

#ifndef OPERATOR_PLAN_BUDGET_H_
#define OPERATOR_PLAN_BUDGET_H_

#include <cstdint>
#include <vector>

#include "operator/api/job.h"

namespace taas {

// A replica without which training goes on: its failure does not end the job.
bool IsDispensable(const Job& job, Role role, int32_t index);

// A TrainingJob's budget is for what the user did; a TFJob's, as ever, for all ends of the program
// itself.
bool CountsForBudget(JobKind kind, RestartCause cause);

// Of the budget that this replica draws on: its own if it is dispensable, else the training's.
int32_t UsedBudget(const Job& job, const Ledger& ledger, Role role, int32_t index);

// One more failure that counts is one too many.
bool IsLastTry(const Job& job, const Ledger& ledger, Role role, int32_t index);

// Of a dispensable replica by `history`, which has the newest kRestartHistoryMax restarts only: for
// a ledger that was lost. What nobody remembers is the training's.
int32_t OwnRestartsIn(const std::vector<RestartRecord>& history, const Job& job, Role role,
                      int32_t index);

}  // namespace taas

#endif  // OPERATOR_PLAN_BUDGET_H_
