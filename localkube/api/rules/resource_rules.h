// What amounts of resources an object may name: quantities that can be read, and for containers
// names and amounts that belong together.
//
// A quantity that cannot be read is a body that cannot be decoded (400); one that may not be is an
// invalid object (422). Both read as a kube-apiserver's answers do.
//
// Ownership: values. Threads: any. Errors: metav1.Status errors, see kube_status.h.
//
//   RETURN_IF_ERROR(CheckResources(kind, pod));

#ifndef LOCALKUBE_API_RULES_RESOURCE_RULES_H_
#define LOCALKUBE_API_RULES_RESOURCE_RULES_H_

#include <nlohmann/json_fwd.hpp>

#include "absl/status/status.h"
#include "localkube/api/kinds.h"

namespace taas::localkube {

// What the containers, volumes and variables of a pod name, what a claim asks for, and what a node
// says it has; nothing of other kinds.
absl::Status CheckResources(const Kind& kind, const nlohmann::json& object);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_RULES_RESOURCE_RULES_H_
