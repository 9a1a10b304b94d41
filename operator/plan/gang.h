// What a gang scheduler has to do with a job: whether it has the job's pods at all, who is in the
// gang, and why no pod may be made yet.
//
// Volcano and coscheduling know a gang by its PodGroup, an object of the job's name; Kueue by
// labels of the pods. A job is in a gang whenever the operator has a gang scheduler, and nothing
// else makes one (docs/gang-scheduling.md).
//
// Ownership: values. Threads: any. Errors: none.
//
//   if (HasPodGroup(snapshot)) Want(GangSize(snapshot, ledger));

#ifndef OPERATOR_PLAN_GANG_H_
#define OPERATOR_PLAN_GANG_H_

#include <string>
#include <string_view>

#include "operator/plan/pod_spec.h"
#include "operator/plan/snapshot.h"

namespace taas {

// A reason and a sentence; both empty: nothing is in the way.
struct GangTrouble {
  std::string reason;  // CamelCase, of the condition Scheduled.
  std::string message;
};

// The job's gang is an object of its own.
bool HasPodGroup(const Snapshot& snapshot);
// Kueue admits the job's pods. TFJobs it suspends and resumes instead, and a job without a queue is
// none of its business.
bool IsQueued(const Snapshot& snapshot);

// The job says that it must be in a gang, and there is nobody to see to it.
GangTrouble WhyNoGang(const Snapshot& snapshot);
// There is somebody, and the gang's turn has not come. Kueue's gate is in the pods.
GangTrouble WhyGangWaits(const Snapshot& snapshot);

// In the gang until it has ended: the evaluator of a TrainingJob is not, nor are workers above
// elastic.minReplicas, since training goes on without them.
bool IsInGang(const Job& job, const Ledger& ledger, Role role, int32_t index);
// Pods that are placed together or not at all; at least 1.
int32_t GangSize(const Snapshot& snapshot, const Ledger& ledger);

// What the scheduler needs to find on a pod.
void JoinGang(const Snapshot& snapshot, const Ledger& ledger, PodSpec& pod);

// A pod is gone only when Kueue lets it go, which it does when its successor is there: but that one
// has the same name. So the operator lets it go itself once nothing of it runs any more.
bool IsHeldBack(const Pod& pod);

// Why a pod is not scheduled whose scheduling gates, such as Kueue's, are still there.
inline constexpr std::string_view kSchedulingGated = "SchedulingGated";

}  // namespace taas

#endif  // OPERATOR_PLAN_GANG_H_
