// The status of a job: what its pods and its ledger say, and one sentence on why there is no
// progress.
//
// A function of the snapshot alone, so a wiped status comes back; times are kept from the last
// status where what they mark has not changed, so nothing is written while nothing happens.
//
// Ownership: values. Threads: any. Errors: none.
//
//   plan.status = DeriveStatus(snapshot, ledger);

#ifndef OPERATOR_PLAN_STATUS_H_
#define OPERATOR_PLAN_STATUS_H_

#include <string>
#include <vector>

#include "operator/plan/conditions.h"
#include "operator/plan/message.h"
#include "operator/plan/snapshot.h"

namespace taas {

// `hindrances`: gets what is in the way of replicas, if it is not null.
JobStatus DeriveStatus(const Snapshot& snapshot, const Ledger& ledger,
                       std::vector<Hindrance>* hindrances = nullptr);

// The last status with a message and a condition that say `what` went wrong in the planning of this
// job.
JobStatus InternalErrorStatus(const Snapshot& snapshot, const std::string& what);

}  // namespace taas

#endif  // OPERATOR_PLAN_STATUS_H_
