// Suspending and resuming a job: all its pods go, and come back with the next attempt.
//
// Ownership: the draft is the caller's. Threads: one. Errors: none.
//
//   if (FollowSuspend(draft)) return draft.Take();

#ifndef OPERATOR_PLAN_SUSPENSION_H_
#define OPERATOR_PLAN_SUSPENSION_H_

#include "operator/plan/ledger_draft.h"

namespace taas {

// True while the job is suspended. When it begins (for the first time or again) its time begins.
bool FollowSuspend(LedgerDraft& draft);

}  // namespace taas

#endif  // OPERATOR_PLAN_SUSPENSION_H_
