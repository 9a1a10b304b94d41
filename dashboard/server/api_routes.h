// Everything below `api`: who asks, may this come in at all, and which route answers.
//
// In this order: the origin, the token, --read-only for writes, the identity, the rate. A route is
// reached only by a caller whom the API server knows; what she may see or do is asked for
// each thing.
//
// Ownership: what is given at construction outlives it. Threads: the executor's only. Errors:
// answers with a Problem; a handler that throws ends its request and nothing else.
//
//   routes.table().Add("GET", "jobs", …);
//   routes.Handle(std::move(request), std::move(respond));

#ifndef DASHBOARD_SERVER_API_ROUTES_H_
#define DASHBOARD_SERVER_API_ROUTES_H_

#include <map>
#include <string>

#include "dashboard/server/api_call.h"
#include "dashboard/server/authenticator.h"
#include "dashboard/server/request_guard.h"
#include "dashboard/server/route_table.h"
#include "dashboard/http/token_bucket.h"
#include "operator/base/executor.h"

namespace taas::dashboard {

class ApiRoutes {
 public:
  // Of one identity, all its tabs together: a page makes a handful of requests when it opens.
  static constexpr TokenBucket::Options kCalls{.burst = 300, .per_second = 50};
  // Identities whose rate is counted; more are people who have gone.
  static constexpr size_t kBucketsMax = 5'000;

  struct Context {
    Executor& executor;
    Authenticator& authenticator;
    const RequestGuard& guard;
    bool read_only = false;
  };

  explicit ApiRoutes(const Context& context) : context_(context) {}

  // For those who have a token.
  RouteTable& table() { return table_; }
  // For those who may have none yet: login. They get a call without identity and token.
  RouteTable& open_table() { return open_table_; }
  void Handle(WebRequest request, WebRespond respond);

 private:
  void OnIdentity(ApiCall call, const ApiHandler& handler,
                  const absl::StatusOr<IdentityPtr>& who);
  void Run(const ApiHandler& handler, ApiCall call) const;
  bool TakeTurn(const std::string& key);

  const Context context_;
  RouteTable table_;
  RouteTable open_table_;
  std::map<std::string, TokenBucket> buckets_;  // By key of the identity.
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_API_ROUTES_H_
