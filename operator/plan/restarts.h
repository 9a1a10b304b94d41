// What the end of a pod, or of a container that its node starts again, does to its replica: the
// next pod, a restart that is counted, or the end of the job.
//
// Ownership: the draft is the caller's. Threads: one. Errors: none.
//
//   for (const ReplicaView& view : draft.views()) AdvanceReplica(draft, view);

#ifndef OPERATOR_PLAN_RESTARTS_H_
#define OPERATOR_PLAN_RESTARTS_H_

#include "operator/plan/ledger_draft.h"

namespace taas {

// Does nothing to a replica that has completed or failed, nor while its pod simply is there.
void AdvanceReplica(LedgerDraft& draft, const ReplicaView& view);

}  // namespace taas

#endif  // OPERATOR_PLAN_RESTARTS_H_
