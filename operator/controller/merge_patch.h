// The JSON merge patch (RFC 7386) that turns the status of a stored object, or the spec of a
// PodGroup, into another.
//
// A field that is gone is sent as null: a patch that leaves a field out would keep it. Everything
// else is sent whole, since what we decoded may hold defaults that the stored object does not have.
//
// Ownership: values. Threads: any. Errors: none; both texts are our own encodings.
//
//   request.body = StatusPatch(EncodeStatus(job.status), EncodeStatus(status), version);

#ifndef OPERATOR_CONTROLLER_MERGE_PATCH_H_
#define OPERATOR_CONTROLLER_MERGE_PATCH_H_

#include <string>
#include <string_view>

namespace taas {

// For the status subresource; fails with 409 unless the object still has `resource_version`.
std::string StatusPatch(std::string_view before, std::string_view after,
                        const std::string& resource_version);

// For a PodGroup whose spec the operator wrote as `before` and now wants as `after`: what others
// wrote into it stays.
std::string PodGroupPatch(std::string_view before, std::string_view after, const std::string& uid,
                          const std::string& resource_version);

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_MERGE_PATCH_H_
