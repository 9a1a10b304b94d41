// Who asks, as the API server says it: never what a request says of itself.
//
// Ownership: shared values. Threads: const access from any thread. Errors: none.
//
//   if (identity->key == other->key) …  // The same user with the same groups.

#ifndef DASHBOARD_SERVER_IDENTITY_H_
#define DASHBOARD_SERVER_IDENTITY_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace taas::dashboard {

struct Identity {
  std::string user;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
  std::string key;  // Equal for those who may do the same.
};
using IdentityPtr = std::shared_ptr<const Identity>;

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_IDENTITY_H_
