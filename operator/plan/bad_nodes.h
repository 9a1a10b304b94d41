// Nodes that the trainer called bad: pods of the job would rather run elsewhere, for a while.
//
// A preference, not a demand: where no other node fits, a pod goes there again. A demand would
// leave it unschedulable for ever on a cluster of one node, or where the bad ones are all that have
// the GPUs; and what was bad is mended or exchanged some day.
//
// Ownership: values. Threads: any. Errors: none.
//
//   pod.avoid_nodes = NodesToAvoid(ledger, snapshot.now);

#ifndef OPERATOR_PLAN_BAD_NODES_H_
#define OPERATOR_PLAN_BAD_NODES_H_

#include <string>
#include <vector>

#include "operator/api/job.h"

namespace taas {

// The time of this one is over.
bool IsForgiven(const BadNode& node, Clock::WallTime now);

std::vector<std::string> NodesToAvoid(const Ledger& ledger, Clock::WallTime now);

}  // namespace taas

#endif  // OPERATOR_PLAN_BAD_NODES_H_
