// The container that gets TF_CONFIG, as JSON: what the role's template says of it, completed.
//
// Ownership: values. Threads: any. Errors: nlohmann's exceptions for parts of a wrong type;
// PodJson, the only caller, turns them into a status.
//
//   CompleteContainer(pod, environment, container);

#ifndef OPERATOR_PLAN_CONTAINER_JSON_H_
#define OPERATOR_PLAN_CONTAINER_JSON_H_

#include <string>
#include <vector>

#include "operator/plan/pod_spec.h"
#include "operator/plan/tf_config.h"
#include "third_party/json.h"

namespace taas {

using Environment = std::vector<EnvVariable>;

// `container` is the template's, or an empty object; `ours` wins over the user's variables.
void CompleteContainer(const PodSpec& pod, Environment ours, nlohmann::json& container);

// Of whatever maker, by its name.
bool IsGpuResource(const std::string& resource);

// The containers that run before it: what one that fails said last is in the pod's status.
void CompleteInitContainers(nlohmann::json& pod_spec);

}  // namespace taas

#endif  // OPERATOR_PLAN_CONTAINER_JSON_H_
