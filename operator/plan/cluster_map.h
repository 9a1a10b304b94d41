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
//   if (map.has_value() && !IsThere(snapshot, map->name)) steps.push_back(*map);

#ifndef OPERATOR_PLAN_CLUSTER_MAP_H_
#define OPERATOR_PLAN_CLUSTER_MAP_H_

#include <optional>
#include <vector>

#include "operator/plan/address_scheme.h"
#include "operator/plan/plan.h"

namespace taas {

// Nothing: pods have the list in their own TF_CONFIG.
std::optional<CreateConfigMap> ClusterMapOf(const Job& job, const AddressBook& addresses);

// Its node says that this one is not there. (What is missing may also be the user's.)
bool Lacks(const Pod& pod, const std::string& cluster_map);
bool AnyLacks(const std::vector<Pod>& pods, const std::string& cluster_map);

// As far as the operator can know, which reads none: it was made a moment ago, or a pod has started
// with it.
bool IsThere(const Snapshot& snapshot, const std::string& cluster_map);

}  // namespace taas

#endif  // OPERATOR_PLAN_CLUSTER_MAP_H_
