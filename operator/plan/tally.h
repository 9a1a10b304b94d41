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
  int32_t ready = 0;  // Running or completed.
  int32_t unscheduled = 0;
  int32_t gpus = 0;  // Of the pods that have not ended.
  bool all_ready = true;
  bool core_ready = true;  // Main replica and parameter servers: then there is training.
  std::optional<Role> restarting;  // Some replica of this role is between two of its pods.
  std::string first_unscheduled;
};

Tally CountReplicas(const Snapshot& snapshot, const Ledger& ledger);

}  // namespace taas

#endif  // OPERATOR_PLAN_TALLY_H_
