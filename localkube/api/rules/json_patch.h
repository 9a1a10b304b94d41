// JSON patches (RFC 6902), bounded in what they may cost.
//
// Values move, they are not copied, and what a patch makes the server do is counted: a request of
// three megabytes must not occupy it for minutes, nor nest a value deeper than what copies and
// writes values, by recursion, has stack for.
//
// Ownership: values. Threads: any. Errors: InvalidArgument: which operation, on which path, why.
//
//   ASSIGN_OR_RETURN(json changed, ApplyJsonPatch(object, patch));

#ifndef LOCALKUBE_API_RULES_JSON_PATCH_H_
#define LOCALKUBE_API_RULES_JSON_PATCH_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>

#include "absl/status/statusor.h"

namespace taas::localkube {

// Operations in one JSON patch; a kube-apiserver's own limit.
inline constexpr size_t kJsonPatchOperationsMax = 10'000;
// What its copy operations may copy in all, or a few that double an object would fill the memory; a
// kube-apiserver's own limit.
inline constexpr size_t kJsonPatchCopyBytesMax = 3 << 20;
// Elements that change their index in all: a whole patch of operations at the front of a list of
// two thousand. A tenth of a second.
inline constexpr size_t kJsonPatchShiftsMax = 20'000'000;
// Nesting of the patched value at any time, as of any body (object_rules.h).
inline constexpr size_t kJsonPatchDepthMax = 200;

absl::StatusOr<nlohmann::json> ApplyJsonPatch(nlohmann::json object, const nlohmann::json& patch);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_RULES_JSON_PATCH_H_
