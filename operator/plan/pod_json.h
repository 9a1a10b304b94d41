// The JSON of the objects that the operator makes.
//
// Ownership: values. Threads: any. Errors: InvalidArgument for parts of the user's that are not
// what Kubernetes takes there, such as a volume source that is not a JSON object.
//
//   ASSIGN_OR_RETURN(const std::string body, PodJson(spec));

#ifndef OPERATOR_PLAN_POD_JSON_H_
#define OPERATOR_PLAN_POD_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "operator/plan/plan.h"

namespace taas {

// The role's template with what makes it a replica of the job. The template's fields win over
// TaaS's defaults; names, addresses, the restart policy, TF_CONFIG and TAAS_* are TaaS's, and so is
// the command of the bundled trainer.
absl::StatusOr<std::string> PodJson(const PodSpec& pod);
// Headless, and it publishes addresses before pods are ready: replicas look for each other to
// become so.
std::string ServiceJson(const CreateService& service);
std::string ConfigMapJson(const CreateConfigMap& map);
std::string PodGroupJson(const CreatePodGroup& group);

}  // namespace taas

#endif  // OPERATOR_PLAN_POD_JSON_H_
