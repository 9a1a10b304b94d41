#include "dashboard/server/api_routes.h"

#include <exception>
#include <memory>
#include <utility>

#include "dashboard/http/problem.h"
#include "operator/base/log.h"

namespace taas::dashboard {

void ApiRoutes::Handle(WebRequest request, WebRespond respond) {
  if (const absl::Status origin = context_.guard.CheckOrigin(request); !origin.ok()) {
    return respond(ProblemResponse(origin));
  }
  const RouteTable::Found open = open_table_.Find(request.method, request.segments);
  if (open.handler != nullptr) {
    return Run(*open.handler, {std::move(request), std::move(respond), nullptr, ""});
  }
  const std::string token = TokenOf(request);
  if (token.empty()) {
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
  if (IsWrite(request) && context_.read_only) {
    return respond(ProblemResponse(403, "ReadOnly", "this dashboard changes nothing"));
  }
  ApiCall call{std::move(request), std::move(respond), nullptr, token};
  context_.authenticator.Authenticate(token, [this, call, handler = found.handler](
                                                 const auto& who) {
    OnIdentity(call, *handler, who);
  });
}

void ApiRoutes::OnIdentity(ApiCall call, const ApiHandler& handler,
                           const absl::StatusOr<IdentityPtr>& who) {
  if (!who.ok()) return call.respond(ProblemResponse(who.status()));
  call.respond = [respond = std::move(call.respond)](WebResponse response) {
    response.known_caller = true;
    respond(std::move(response));
  };
  if (!TakeTurn((*who)->key)) {
    WebResponse response = ProblemResponse(429, "TooManyRequests",
                                           "you ask too often; try again in a second");
    response.headers.emplace_back("Retry-After", "1");
    return call.respond(std::move(response));
  }
  call.identity = *who;
  Run(handler, std::move(call));
}

// What a request can make a library throw must not end the process for all others.
void ApiRoutes::Run(const ApiHandler& handler, ApiCall call) const {
  // One that has answered and then throws must not answer twice.
  const WebRespond respond = [respond = std::move(call.respond),
                              answered = std::make_shared<bool>(false)](WebResponse response) {
    if (!std::exchange(*answered, true)) respond(std::move(response));
  };
  call.respond = respond;
  std::string line = call.request.method + " api";
  for (size_t i = 0; i < call.parts(); ++i) line += "/" + std::string(call.Part(i));
  try {
    handler(std::move(call));
  } catch (const std::exception& error) {
    Log(LogLevel::kError, "a request of the dashboard failed",
        {{"request", line}, {"why", error.what()}});
    respond(ProblemResponse(500, "Internal", line + ": the dashboard could not work on this; " +
                                                 "its log says why"));
  }
}

bool ApiRoutes::TakeTurn(const std::string& key) {
  if (buckets_.size() >= kBucketsMax && buckets_.count(key) == 0) buckets_.clear();
  return buckets_.try_emplace(key, kCalls).first->second.Take(context_.executor.clock().Now());
}

}  // namespace taas::dashboard
