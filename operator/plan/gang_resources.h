// What the pods of a gang ask for together.
//
// As a scheduler counts: of each container its requests, or its limits where it requests nothing;
// of containers that run before the others the largest, unless they stay.
//
// Ownership: values. Threads: any. Errors: what cannot be read counts as nothing, as the pod is
// refused for it anyway.
//
//   const std::string resources = GangResources({{chief, 1}, {worker, 4}});  // {"cpu":"5"}

#ifndef OPERATOR_PLAN_GANG_RESOURCES_H_
#define OPERATOR_PLAN_GANG_RESOURCES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "operator/plan/pod_spec.h"

namespace taas {

// A core/v1 ResourceList of so many pods of each kind; empty: they ask for nothing.
std::string GangResources(const std::vector<std::pair<PodSpec, int32_t>>& pods);

}  // namespace taas

#endif  // OPERATOR_PLAN_GANG_RESOURCES_H_
