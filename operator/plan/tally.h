// What the replicas of a job amount to, counted in one pass.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const Tally tally = CountReplicas(snapshot, ledger);

#ifndef OPERATOR_PLAN_TALLY_H_
#define OPERATOR_PLAN_TALLY_H_

#include <map>
#include <optional>
#include <string>

#include "operator/plan/snapshot.h"

namespace taas {

struct Tally {
  std::map<Role, ReplicaStatus> by_role;
  int32_t desired = 0;
  int32_t ready = 0;  // Pods that are ready.
  int32_t unscheduled = 0;
  int32_t gpus = 0;  // Of the pods that have a node and have not ended.
  bool all_there = true;  // They run or have completed.
  bool core_there = true;  // Main replica and parameter servers: then there is training.
  // Some replica of this role, which the training needs, is between two of its pods.
  std::optional<Role> restarting;
  std::string first_unscheduled;  // "worker-1", and the scheduler's words if it has any.
};

Tally CountReplicas(const Snapshot& snapshot, const Ledger& ledger);

}  // namespace taas

#endif  // OPERATOR_PLAN_TALLY_H_
