// The pods and the service that a job lacks, and those that it has too many.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const ChildSteps children = PlanChildren(snapshot, *snapshot.job.ledger, wanted);

#ifndef OPERATOR_PLAN_PODS_H_
#define OPERATOR_PLAN_PODS_H_

#include <optional>
#include <vector>

#include "operator/plan/plan.h"

namespace taas {

struct ChildSteps {
  std::vector<Step> steps;
  std::optional<Clock::WallTime> wake_at;
};

// Steps that `stored`, the ledger on the API server, covers; where `wanted` differs from it, none.
ChildSteps PlanChildren(const Snapshot& snapshot, const Ledger& stored, const Ledger& wanted);

// Of a job that is being deleted: its pods, which would stay for ever for Kueue's sake.
std::vector<Step> ReleaseHeldBack(const Snapshot& snapshot);

}  // namespace taas

#endif  // OPERATOR_PLAN_PODS_H_
