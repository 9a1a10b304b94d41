// The ConfigMap in which a large job keeps the list of its replicas, so that not each pod has it.
//
// A pod's TF_CONFIG refers to it by $(TAAS_CLUSTER), which the kubelet replaces: the program sees
// the text that it would see otherwise. It never changes, and a hash of what it says is its name:
// after the job was scaled new pods get another, and a container that starts again finds what its
// pod was made with. It goes with the job. The operator may make ConfigMaps and read none.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const auto map = ClusterMapOf(job, addresses);
//   if (map.has_value() && snapshot.cluster_map != map->name) steps.push_back(*map);

#ifndef OPERATOR_PLAN_CLUSTER_MAP_H_
#define OPERATOR_PLAN_CLUSTER_MAP_H_

#include <optional>
#include <vector>

#include "operator/plan/address_scheme.h"
#include "operator/plan/plan.h"

namespace taas {

// Nothing: pods have the list in their own TF_CONFIG.
std::optional<CreateConfigMap> ClusterMapOf(const Job& job, const AddressBook& addresses);

// True while a pod cannot start since something that its environment refers to is not there: the
// job's ConfigMap, if somebody deleted it, or one of the user's.
bool LacksConfiguration(const std::vector<Pod>& pods);

}  // namespace taas

#endif  // OPERATOR_PLAN_CLUSTER_MAP_H_
