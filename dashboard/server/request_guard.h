// Whether a request may come in at all, before anybody asks who sends it: a page of another site
// must not act here with the cookie of the one who looks at it.
//
// The host that is named must be one of ours (against DNS rebinding); what a browser says of where
// a request comes from must be this origin. Headers of impersonation are never passed on: a request
// to the API server carries the token and nothing else of what a browser sent.
//
// A page's session is two halves, of which each alone is worth nothing: the cookie, which no script
// reads but which a browser sends to every port of the host, is a random key; the header, which
// only a page of this origin (host and port) has in its storage and can send, is the token sealed
// with that key. So another server of the host never gets the token, a page of another site can
// neither read nor change anything, and the server keeps no sessions.
//
// Ownership: value. Threads: any. Errors: PermissionDenied with the reason.
//
//   RETURN_IF_ERROR(guard.CheckOrigin(request));
//   const std::string token = TokenOf(request);

#ifndef DASHBOARD_SERVER_REQUEST_GUARD_H_
#define DASHBOARD_SERVER_REQUEST_GUARD_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "dashboard/http/web_message.h"

namespace taas::dashboard {

// The cookie of the session, for the port that the browser asked: cookies do not keep apart what
// two clusters on one machine serve at two ports.
std::string SessionCookie(const WebRequest& request);
// The half of the session that the page keeps.
inline constexpr std::string_view kSessionHeader = "x-taas-session";

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

 private:
  const Options options_;
};

// The bearer token of the header, else that of the session; empty: there is none.
std::string TokenOf(const WebRequest& request);
bool IsWrite(const WebRequest& request);

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_REQUEST_GUARD_H_
