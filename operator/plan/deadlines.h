// The deadlines of a job that has not ended: how long it may run, and how long its replicas may
// wait for one another.
//
// Ownership: the draft is the caller's. Threads: one. Errors: none.
//
//   KeepActiveDeadline(draft);

#ifndef OPERATOR_PLAN_DEADLINES_H_
#define OPERATOR_PLAN_DEADLINES_H_

#include "operator/plan/ledger_draft.h"

namespace taas {

// Ends a job that has run for activeDeadlineSeconds.
void KeepActiveDeadline(LedgerDraft& draft);

// pendingDeadlineSeconds: releases all replicas when not all that the training needs have come to
// run in time, for longer each time, so that jobs that wait for each other's nodes do not wait for
// ever. It is over for an attempt in which they have all run.
void KeepPendingDeadline(LedgerDraft& draft);

// True between a release and the time when the replicas are made again.
bool IsReleased(const Ledger& ledger, Clock::WallTime now);

}  // namespace taas

#endif  // OPERATOR_PLAN_DEADLINES_H_
