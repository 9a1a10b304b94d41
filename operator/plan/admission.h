// The pods that Kueue admits together, in the ledger.
//
// A group's number of pods stands on each of them and may not change, and a pod more than was
// admitted is deleted by Kueue. So a group is the pods of one attempt, and a job that grows begins
// the next one.
//
// Ownership: the draft is the caller's. Threads: one. Errors: none.
//
//   if (!draft.ended()) FollowAdmission(draft);

#ifndef OPERATOR_PLAN_ADMISSION_H_
#define OPERATOR_PLAN_ADMISSION_H_

#include "operator/plan/ledger_draft.h"

namespace taas {

// After everything that may begin an attempt.
void FollowAdmission(LedgerDraft& draft);

}  // namespace taas

#endif  // OPERATOR_PLAN_ADMISSION_H_
