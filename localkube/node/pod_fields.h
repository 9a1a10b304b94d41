// The downward API: what a container may ask about its own pod (fieldRef, resourceFieldRef).
//
// Ownership: value types. Threads: any. Errors: InvalidArgument for a field that there is not.
//
//   ASSIGN_OR_RETURN(const std::string name, PodField(pod, "metadata.name"));

#ifndef LOCALKUBE_NODE_POD_FIELDS_H_
#define LOCALKUBE_NODE_POD_FIELDS_H_

#include <string>

#include "absl/status/statusor.h"
#include "localkube/node/schedule.h"
#include "nlohmann/json_fwd.hpp"

namespace taas::localkube {

// `path` as in a fieldRef; metadata.labels and metadata.annotations whole are lines key="value".
absl::StatusOr<std::string> PodField(const nlohmann::json& pod, const std::string& path);

// `ref` is a resourceFieldRef. A limit that is not set is what the node has.
absl::StatusOr<std::string> ResourceField(const nlohmann::json& pod,
                                          const nlohmann::json& container,
                                          const nlohmann::json& ref, const Resources& node);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_POD_FIELDS_H_
