// What a ConfigMap and a Secret have to be, as a kube-apiserver demands it.
//
// Ownership: values. Threads: any. Errors: metav1.Status errors 400 and 422; nothing for other
// kinds.
//
//   CompleteConfig(kind, &object);  // stringData into data
//   RETURN_IF_ERROR(CheckConfig(kind, object));

#ifndef LOCALKUBE_API_CONFIG_RULES_H_
#define LOCALKUBE_API_CONFIG_RULES_H_

#include <nlohmann/json_fwd.hpp>

#include "absl/status/status.h"
#include "localkube/api/kinds.h"

namespace taas::localkube {

// Kubernetes' limit for the data of one object.
inline constexpr size_t kConfigBytesMax = 1 << 20;

void CompleteConfig(const Kind& kind, nlohmann::json* object);
absl::Status CheckConfig(const Kind& kind, const nlohmann::json& object);
absl::Status CheckConfigUpdate(const Kind& kind, const nlohmann::json& old,
                               const nlohmann::json& changed);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_CONFIG_RULES_H_
