// Logging in and out, and what a page has to know of who looks at it.
//
//   GET    api/session        who am I
//   POST   api/session        {"token": …}, or on this machine {"code": …} of a one-time link
//   DELETE api/session        forgets the cookie
//   POST   api/session/codes  a code for a one-time link; on this machine only
//
// The token is the cookie, HttpOnly and SameSite=Strict: the server keeps no sessions, so several
// of them, or one that was started again, know who has logged in. Its path is where it was set, so
// that two dashboards behind one name keep apart.
//
// Ownership: what is given at construction outlives it. Threads: the executor's only. Errors:
// answers with a Problem.
//
//   SessionRoutes sessions(context);
//   sessions.AddTo(&routes);

#ifndef DASHBOARD_SERVER_SESSION_ROUTES_H_
#define DASHBOARD_SERVER_SESSION_ROUTES_H_

#include <chrono>
#include <map>
#include <string>

#include "dashboard/server/access.h"
#include "dashboard/server/api_routes.h"
#include "dashboard/server/authenticator.h"
#include "dashboard/server/board.h"
#include "operator/base/executor.h"

namespace taas::dashboard {

class SessionRoutes {
 public:
  // From when a link is printed to when somebody follows it.
  static constexpr std::chrono::minutes kCodeLife{10};
  static constexpr size_t kCodesMax = 16;

  struct Context {
    Executor& executor;
    Authenticator& authenticator;
    Access& access;
    const Board& board;
    bool read_only = false;
    std::string local_token;  // What a one-time code stands for; empty: there are none.
    int history_days = 0;
  };

  explicit SessionRoutes(const Context& context) : context_(context) {}
  void AddTo(ApiRoutes* routes);
  // Good once; empty: there is no local token.
  std::string MakeCode();

 private:
  void LogIn(ApiCall call);
  void OnLogIn(ApiCall call, const std::string& token, const absl::StatusOr<IdentityPtr>& who);
  void Tell(ApiCall call, bool set_cookie);
  bool Redeem(const std::string& code);

  const Context context_;
  std::map<std::string, Clock::Time> codes_;  // By digest: until when it is good.
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_SESSION_ROUTES_H_
