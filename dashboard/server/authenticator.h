// Turns bearer tokens into identities, by asking the API server (TokenReview).
//
// An answer is believed for kFresh, a refusal for a shorter time; who asks meanwhile for the same
// token waits for the same answer. Tokens are kept as digests only. Reviews are limited for all
// together, since whoever guesses makes as many new tokens as she likes.
//
// Ownership: transport and executor outlive it. Threads: the executor's only. Errors:
// Unauthenticated for a token that is none or no longer good, ResourceExhausted when too many
// unknown tokens come, Unavailable when the API server does not answer (what was believed goes on
// being believed for kStale), FailedPrecondition when our own account may not ask.
//
//   authenticator.Authenticate(token, [](absl::StatusOr<IdentityPtr> who) { … });

#ifndef DASHBOARD_SERVER_AUTHENTICATOR_H_
#define DASHBOARD_SERVER_AUTHENTICATOR_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dashboard/server/identity.h"
#include "dashboard/http/token_bucket.h"
#include "operator/base/executor.h"
#include "operator/kube/transport.h"

namespace taas::dashboard {

class Authenticator {
 public:
  // A token that was revoked stops working within this time, and so does an open page's stream.
  static constexpr std::chrono::seconds kFresh{30};
  static constexpr std::chrono::seconds kRefusedFor{5};
  // While the API server is away a page goes on showing what it has; nothing new can be asked
  // for then but from the cache.
  static constexpr std::chrono::minutes kStale{10};
  // Of known tokens; the oldest goes first.
  static constexpr size_t kTokensMax = 2'000;
  static constexpr TokenBucket::Options kReviews{.burst = 100, .per_second = 20};

  using Done = std::function<void(absl::StatusOr<IdentityPtr>)>;

  Authenticator(KubeTransport& transport, Executor& executor);
  ~Authenticator();

  // `done` may be called inside the call.
  void Authenticate(std::string_view token, Done done);

 private:
  struct Known {
    absl::StatusOr<IdentityPtr> answer = absl::UnauthenticatedError("");
    Clock::Time asked{};
    bool has_answer = false;
    std::vector<Done> waiting;
  };

  void Ask(const std::string& digest, std::string_view token);
  void OnReply(const std::string& digest, const absl::StatusOr<HttpReply>& reply);
  void MakeRoom();

  KubeTransport& transport_;
  Executor& executor_;
  TokenBucket reviews_{kReviews};
  std::map<std::string, Known> known_;  // By digest of the token.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// The identity that a TokenReview's answer names. Unauthenticated: it names none.
absl::StatusOr<IdentityPtr> ReadTokenReview(const HttpReply& reply);

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_AUTHENTICATOR_H_
