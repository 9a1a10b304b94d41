// The JSON of the objects that the operator makes.
//
// Ownership: values. Threads: any. Errors: InvalidArgument for a volume source that is not a JSON
// object.
//
//   ASSIGN_OR_RETURN(const std::string body, PodJson(spec));

#ifndef OPERATOR_PLAN_POD_JSON_H_
#define OPERATOR_PLAN_POD_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "operator/plan/plan.h"

namespace taas {

absl::StatusOr<std::string> PodJson(const PodSpec& pod);
// Headless, and it publishes addresses before pods are ready: replicas look for each other to
// become so.
std::string ServiceJson(const CreateService& service);

}  // namespace taas

#endif  // OPERATOR_PLAN_POD_JSON_H_
