// What a review asks: the fields of its spec, in JSON and in Kubernetes' protobuf, from one table.
//
// What is read is what a kube-apiserver shows of it: empty and unknown fields are left out.
//
// Ownership: values. Threads: any. Errors: InvalidArgument, in the words of Go's decoder: a value
// of another type; or bytes that are no message.
//
//   std::vector<std::string> unknown;  // "spec.colour"
//   ASSIGN_OR_RETURN(const json spec, ReadReviewSpec("TokenReview", object["spec"], &unknown));
//   spec.value("token", "");

#ifndef LOCALKUBE_API_REVIEW_FIELDS_H_
#define LOCALKUBE_API_REVIEW_FIELDS_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace taas::localkube {

// False for a kind that is no review, and for SelfSubjectReview, which asks nothing.
bool HasReviewSpec(std::string_view kind);

absl::StatusOr<nlohmann::json> ReadReviewSpec(std::string_view kind, const nlohmann::json& spec,
                                              std::vector<std::string>* unknown);
// The spec alone, as JSON would have it.
absl::StatusOr<nlohmann::json> ReviewSpecOfProtobuf(std::string_view kind,
                                                    std::string_view message);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_REVIEW_FIELDS_H_
