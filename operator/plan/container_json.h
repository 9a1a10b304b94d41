// The container that gets TF_CONFIG, as JSON: what the role's template says of it, completed.
//
// Ownership: values. Threads: any. Errors: nlohmann's exceptions for parts of a wrong type;
// PodJson, the only caller, turns them into a status.
//
//   CompleteContainer(pod, container);

#ifndef OPERATOR_PLAN_CONTAINER_JSON_H_
#define OPERATOR_PLAN_CONTAINER_JSON_H_

#include "nlohmann/json.hpp"
#include "operator/plan/pod_spec.h"

namespace taas {

// `container` is the template's, or an empty object.
void CompleteContainer(const PodSpec& pod, nlohmann::json& container);

}  // namespace taas

#endif  // OPERATOR_PLAN_CONTAINER_JSON_H_
