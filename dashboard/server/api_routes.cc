#include "dashboard/server/api_routes.h"

#include <utility>

#include "dashboard/http/problem.h"

namespace taas::dashboard {

void ApiRoutes::Handle(WebRequest request, WebRespond respond) {
  if (const absl::Status origin = context_.guard.CheckOrigin(request); !origin.ok()) {
    return respond(ProblemResponse(origin));
  }
  const RouteTable::Found open = open_table_.Find(request.method, request.segments);
  if (open.handler != nullptr) {
    return (*open.handler)({std::move(request), std::move(respond), nullptr, ""});
  }
  const std::optional<RequestToken> token = TokenOf(request);
  if (!token.has_value()) {
    return respond(ProblemResponse(401, "Unauthenticated", "no token came with this; log in"));
  }
  const RouteTable::Found found = table_.Find(request.method, request.segments);
  if (found.handler == nullptr) {
    if (found.methods.empty() && open.methods.empty()) {
      return respond(ProblemResponse(404, "NotFound", "the dashboard has no such path"));
    }
    WebResponse response = ProblemResponse(405, "BadRequest", "the path has no such method");
    response.headers.emplace_back("Allow", found.methods + open.methods);
    return respond(std::move(response));
  }
  if (IsWrite(request)) {
    if (context_.read_only) {
      return respond(ProblemResponse(403, "ReadOnly", "this dashboard changes nothing"));
    }
    if (const absl::Status csrf = context_.guard.CheckCsrf(request, *token); !csrf.ok()) {
      return respond(ProblemResponse(csrf));
    }
  }
  ApiCall call{std::move(request), std::move(respond), nullptr, token->token};
  context_.authenticator.Authenticate(
      token->token, [this, call, handler = found.handler](const auto& who) {
        OnIdentity(call, *handler, who);
      });
}

void ApiRoutes::OnIdentity(ApiCall call, const ApiHandler& handler,
                           const absl::StatusOr<IdentityPtr>& who) {
  if (!who.ok()) return call.respond(ProblemResponse(who.status()));
  if (!TakeTurn((*who)->key)) {
    WebResponse response = ProblemResponse(429, "TooManyRequests",
                                           "you ask too often; try again in a second");
    response.headers.emplace_back("Retry-After", "1");
    return call.respond(std::move(response));
  }
  call.identity = *who;
  handler(std::move(call));
}

bool ApiRoutes::TakeTurn(const std::string& key) {
  if (buckets_.size() >= kBucketsMax && buckets_.count(key) == 0) buckets_.clear();
  return buckets_.try_emplace(key, kCalls).first->second.Take(context_.executor.clock().Now());
}

}  // namespace taas::dashboard
