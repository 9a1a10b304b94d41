// The part of Kubernetes' JSONPath that printer columns use.
//
// ".spec.x", ".metadata.labels['a/b']", ".items[0]", ".items[-1:]",
// ".status.conditions[?(@.type=="Ready")].status"; braces around it are allowed. The first match
// counts.
//
// Ownership: the result points into the object. Threads: any. Errors: null where nothing is found
// or the path is not understood.
//
//   const json* state = FindJsonPath(object, ".status.state");

#ifndef LOCALKUBE_API_JSON_PATH_H_
#define LOCALKUBE_API_JSON_PATH_H_

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace taas::localkube {

const nlohmann::json* FindJsonPath(const nlohmann::json& object, std::string_view path);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_JSON_PATH_H_
