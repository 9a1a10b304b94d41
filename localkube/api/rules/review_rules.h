// Which questions about access make no sense: the rules of a kube-apiserver, with its words.
//
// Whether a selector can be parsed is not looked at: no answer here depends on one.
//
// Ownership: values. Threads: any. Errors: it returns them.
//
//   const auto errors = CheckAccessReview(kind, object["metadata"], spec, "default");

#ifndef LOCALKUBE_API_RULES_REVIEW_RULES_H_
#define LOCALKUBE_API_RULES_REVIEW_RULES_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "localkube/api/kinds.h"
#include "operator/api/field_error.h"

namespace taas::localkube {

// `kind` is one of the three kinds of AccessReview, `ns` that of the request. `spec` is as
// ReadReviewSpec gives it, `metadata` without its namespace.
std::vector<FieldError> CheckAccessReview(const Kind& kind, const nlohmann::json& metadata,
                                          const nlohmann::json& spec, const std::string& ns);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_RULES_REVIEW_RULES_H_
