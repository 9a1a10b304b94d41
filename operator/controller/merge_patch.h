// The JSON merge patch (RFC 7386) that turns one status into another.
//
// Only what changed is sent, and a field that is gone is sent as null: a patch that leaves a field out would
// keep it.
//
// Ownership: values. Threads: any. Errors: none; both texts are our own encodings.
//
//   request.body = StatusPatch(EncodeStatus(job.status), EncodeStatus(status), version);

#ifndef OPERATOR_CONTROLLER_MERGE_PATCH_H_
#define OPERATOR_CONTROLLER_MERGE_PATCH_H_

#include <string>
#include <string_view>

namespace taas {

// {} if they are equal.
std::string MergePatch(std::string_view before, std::string_view after);

// For the status subresource; fails with 409 unless the object still has `resource_version`.
std::string StatusPatch(std::string_view before, std::string_view after,
                        const std::string& resource_version);

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_MERGE_PATCH_H_
