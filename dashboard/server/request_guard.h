// Whether a request may come in at all, before anybody asks who sends it: a page of another site
// must not act here with the cookie of the one who looks at it.
//
// The host that is named must be one of ours (against DNS rebinding); what a browser says of where
// a request comes from must be this origin; a write with a cookie needs the session's CSRF token,
// which only a page of this origin can have read. Headers of impersonation are never passed on: a
// request to the API server carries the token and nothing else of what a browser sent.
//
// Ownership: value. Threads: any. Errors: PermissionDenied with the reason.
//
//   RETURN_IF_ERROR(guard.Check(request));

#ifndef DASHBOARD_SERVER_REQUEST_GUARD_H_
#define DASHBOARD_SERVER_REQUEST_GUARD_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "dashboard/http/web_message.h"

namespace taas::dashboard {

// The cookie of the session, for the port that the browser asked: cookies do not keep apart what
// two clusters on one machine serve at two ports.
std::string SessionCookie(const WebRequest& request);
inline constexpr std::string_view kCsrfHeader = "x-taas-csrf";

struct RequestToken {
  std::string token;
  bool by_cookie = false;
};

class RequestGuard {
 public:
  struct Options {
    // Names by which the page is reached, without port. Empty: any.
    std::vector<std::string> hosts;
    bool loopback_only = false;  // Names of this machine, instead of `hosts`.
  };
  explicit RequestGuard(Options options) : options_(std::move(options)) {}

  absl::Status CheckHost(const WebRequest& request) const;
  // For everything below `api`.
  absl::Status CheckOrigin(const WebRequest& request) const;
  // For a write by `token`.
  absl::Status CheckCsrf(const WebRequest& request, const RequestToken& token) const;

 private:
  const Options options_;
};

// The bearer token of the header, else of the cookie. Nothing: there is none.
std::optional<RequestToken> TokenOf(const WebRequest& request);
// What the page of a session sends with each write; it says nothing about the token.
std::string CsrfOf(std::string_view token);
bool IsWrite(const WebRequest& request);

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_REQUEST_GUARD_H_
