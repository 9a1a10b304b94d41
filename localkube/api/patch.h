// The patch formats of the Kubernetes API: merge (RFC 7386), JSON (RFC 6902) and strategic merge.
//
// Strategic merge knows the list keys of the built-in kinds (containers by name, ports by number,
// conditions
// by type, …) and the directives $patch, $retainKeys, $setElementOrder and
// $deleteFromPrimitiveList.
//
// Ownership: values. Threads: any. Errors: InvalidArgument: the patch is malformed or does not
// apply.
//
//   ASSIGN_OR_RETURN(json changed, ApplyPatch(PatchType::kMerge, object, patch));

#ifndef LOCALKUBE_API_PATCH_H_
#define LOCALKUBE_API_PATCH_H_

#include <nlohmann/json_fwd.hpp>

#include "absl/status/statusor.h"

namespace taas::localkube {

enum class PatchType { kMerge, kJson, kStrategic };

absl::StatusOr<nlohmann::json> ApplyPatch(PatchType type, const nlohmann::json& object,
                                          const nlohmann::json& patch);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_PATCH_H_
