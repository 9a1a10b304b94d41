// Logging in and out, and what a page has to know of who looks at it.
//
//   GET    api/session        who am I
//   POST   api/session        {"token": …}, or on this machine {"code": …} of a one-time link
//   DELETE api/session        forgets the cookie
//   POST   api/session/codes  a code for a one-time link; on this machine only
//   GET    api/login          how to come by a link or a token; for those who have none
//
// A login gives two halves (see request_guard.h): a cookie with a key, HttpOnly and
// SameSite=Strict, and in the answer the token sealed with it. The server keeps no sessions, so
// several of them, or one that was started again, know who has logged in. The cookie's path is
// where it was set, so that two dashboards behind one name keep apart.
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
#include "dashboard/server/login_help.h"
#include "operator/base/executor.h"

namespace taas::dashboard {

class SessionRoutes {
 public:
  // From when a link is printed to when somebody follows it.
  static constexpr std::chrono::minutes kCodeLife{10};
  static constexpr size_t kCodesMax = 16;
  // Of the cookie since the page was last opened: who comes each day, or after a weekend, need not
  // log in each time. A token that expires sooner ends the session sooner.
  static constexpr std::chrono::hours kSessionLife{7 * 24};
  // Of a login's body: the longest token, and the JSON around it. Nobody knows who sends it.
  static constexpr size_t kLogInBytesMax = 20 << 10;

  struct Context {
    Executor& executor;
    Authenticator& authenticator;
    Access& access;
    const Board& board;
    bool read_only = false;
    std::string local_token;  // What a one-time code stands for; empty: there are none.
    int history_days = 0;
    LoginHelp help;
  };

  explicit SessionRoutes(const Context& context) : context_(context) {}
  void AddTo(ApiRoutes* routes);
  // Good once; empty: there is no local token.
  std::string MakeCode();

 private:
  void LogIn(ApiCall call);
  void OnLogIn(ApiCall call, const std::string& token, const absl::StatusOr<IdentityPtr>& who);
  void Tell(ApiCall call, const std::string& key, const std::string& half);
  bool Redeem(const std::string& code);

  const Context context_;
  std::map<std::string, Clock::Time> codes_;  // By digest: until when it is good.
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_SESSION_ROUTES_H_
