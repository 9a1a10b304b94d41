// Replicas that a training goes on without: those whose pod has never run.
//
// Training with parameter servers begins when the main replica and the servers run, whoever else
// finds no node. Nobody should have to compare the state with the counts to notice that.
//
// Ownership: values. Threads: any. Errors: none.
//
//   if (NeverRan(*pod)) absent.push_back(replica.short_name);
//   text += "; training goes on without " + Listed(absent);

#ifndef OPERATOR_PLAN_ABSENT_H_
#define OPERATOR_PLAN_ABSENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "operator/plan/snapshot.h"

namespace taas {

// Where there are parameter servers, training begins with these and the main replica.
bool HasServers(const JobSpec& spec);
bool IsCore(const JobSpec& spec, Role role, int32_t index);

// No container of it has begun, and none is about to: it has no node, or its node cannot start it.
bool NeverRan(const Pod& pod);

// "worker-0", "worker-0 and worker-1", "worker-0, worker-1 and 6 more".
std::string Listed(const std::vector<std::string>& names);

// Of a training that has begun without some of its workers, and can take them in when they come:
// "training goes on without worker-0 and worker-1". Empty: it waits for them, or has them all.
std::string GoesOnWithout(const Snapshot& snapshot, const Ledger& ledger);

// Of a training that is done: "trained without worker-0 and worker-1, which never ran: 0/1 nodes
// are available". Empty: all have run, or nobody knows better. `patient`: so long after the end
// that a pod that is still starting will not have run.
std::string TrainedWithout(const Snapshot& snapshot, const Ledger& ledger, bool patient);

}  // namespace taas

#endif  // OPERATOR_PLAN_ABSENT_H_
