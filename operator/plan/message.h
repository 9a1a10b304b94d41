// The one sentence on why a job makes no progress: the worst pod and its reason.
//
// Ownership: values. Threads: any. Errors: none.
//
//   status.message = WhyNoProgress(snapshot, ledger);  // Empty: there is progress.

#ifndef OPERATOR_PLAN_MESSAGE_H_
#define OPERATOR_PLAN_MESSAGE_H_

#include <string>

#include "operator/plan/snapshot.h"

namespace taas {

std::string WhyNoProgress(const Snapshot& snapshot, const Ledger& ledger);

// The replica that is worst off and its reason: "worker-1 (and 1 more) cannot be scheduled: …".
// Empty: all run.
std::string WorstReplica(const Snapshot& snapshot, const Ledger& ledger);

}  // namespace taas

#endif  // OPERATOR_PLAN_MESSAGE_H_
