// The PodGroup of a job: made before its pods, kept at the size of the gang, deleted when no pod is
// to be placed any more.
//
// Ownership: values. Threads: any. Errors: none.
//
//   PodGroupPlan group = PlanPodGroup(snapshot, stored, somebody_waits, sample);
//   if (group.ready) MakePods();

#ifndef OPERATOR_PLAN_POD_GROUP_H_
#define OPERATOR_PLAN_POD_GROUP_H_

#include <functional>
#include <optional>
#include <vector>

#include "operator/plan/plan.h"

namespace taas {

struct PodGroupPlan {
  std::vector<Step> steps;
  bool ready = true;  // Pods may be made.
};

// `pod_of` gives the pod of replica 0 of a role, from which the gang's resources are counted. While
// nobody waits for a place a gang that has become smaller, since some have completed, is left as it
// is: a job of a thousand workers would end with a thousand writes.
PodGroupPlan PlanPodGroup(const Snapshot& snapshot, const Ledger& stored, bool somebody_waits,
                          const std::function<PodSpec(Role role)>& pod_of);

// Nothing for one that is not ours, is not there, or goes already.
std::optional<DeletePodGroup> DropPodGroup(const Snapshot& snapshot, std::string why);

}  // namespace taas

#endif  // OPERATOR_PLAN_POD_GROUP_H_
