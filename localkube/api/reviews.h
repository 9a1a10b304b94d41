// Reviews: whose a token is, and what a user may do. Answered when they are posted, never stored.
//
// The cluster has one user, the holder of its token, who is a member of system:masters; and no
// RBAC: members of that group may do everything, others nothing.
//
// Ownership: values. Threads: any. Errors: metav1.Status errors, in a kube-apiserver's words.
//
//   ASSIGN_OR_RETURN(WriteResult answer,
//                    AnswerReview({.token = token, .now = now}, kind, "", body, {}));

#ifndef LOCALKUBE_API_REVIEWS_H_
#define LOCALKUBE_API_REVIEWS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "localkube/api/kinds.h"
#include "localkube/api/rest.h"
#include "operator/base/clock.h"

namespace taas::localkube {

// The cluster's user, as in its kubeconfig.
inline constexpr char kUserName[] = "taas-local";

struct ReviewSources {
  const std::string& token;  // The user's; empty: there is none.
  Clock::WallTime now;
};

// `kind` is one of the reviews (Kind::review). Who asks is the cluster's user. Nothing is stored,
// so that a dry run is no other.
absl::StatusOr<WriteResult> AnswerReview(const ReviewSources& sources, const Kind& kind,
                                         const std::string& ns, std::string_view body,
                                         const WriteOptions& options);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_REVIEWS_H_
