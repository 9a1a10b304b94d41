// What the specification of a pod may say: types, and values that the local cluster depends on.
//
// A field of the wrong type is a body that cannot be decoded (400); a value outside its range is
// an invalid object (422). Both read as a kube-apiserver's answers do.
//
// Ownership: values. Threads: any. Errors: metav1.Status errors, see kube_status.h.
//
//   RETURN_IF_ERROR(CheckPodSpec(kind, pod));

#ifndef LOCALKUBE_API_POD_RULES_H_
#define LOCALKUBE_API_POD_RULES_H_

#include <nlohmann/json_fwd.hpp>

#include "absl/status/status.h"
#include "localkube/api/kinds.h"

namespace taas::localkube {

absl::Status CheckPodSpec(const Kind& kind, const nlohmann::json& pod);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_POD_RULES_H_
