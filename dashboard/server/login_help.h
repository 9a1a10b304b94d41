// What somebody who is not logged in is told: commands that give her a link or a token of this very
// cluster.
//
//   GET api/login   {"local": true, "link": "taas open --dir /home/me/taas"}
//                   {"local": false, "account": {"namespace": "taas-system", "name": "dashboard"}}
//
// Ownership: values. Threads: any. Errors: none; what is not known is left out.
//
//   LoginHelp help{.account = ServiceAccountOf(token)};
//   respond(JsonResponse(help.Json()));

#ifndef DASHBOARD_SERVER_LOGIN_HELP_H_
#define DASHBOARD_SERVER_LOGIN_HELP_H_

#include <optional>
#include <string>
#include <string_view>

namespace taas::dashboard {

struct ServiceAccount {
  std::string ns;
  std::string name;
};
// Whose token it is, as it says itself; nothing: it is none of a service account.
std::optional<ServiceAccount> ServiceAccountOf(std::string_view token);

struct LoginHelp {
  std::string link_command;  // Of a cluster on this machine: prints a link. Empty: there is none.
  std::optional<ServiceAccount> account;  // The dashboard's own, which sees all jobs.
  std::string Json() const;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_LOGIN_HELP_H_
