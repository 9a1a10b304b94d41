// Plain HTTP requests to a dashboard on this machine, with any header a test likes to send.
//
// Ownership: values; each request has a connection of its own. Threads: any. Errors: a test failure
// and an empty answer where no answer came.
//
//   const WebAnswer answer = DashboardClient(port).Do("GET", "/api/jobs", {{"Host", "evil"}});

#ifndef E2E_DASHBOARD_CLIENT_H_
#define E2E_DASHBOARD_CLIENT_H_

#include <cstdint>
#include <map>
#include <string>

#include "third_party/json.h"

namespace taas {

struct WebAnswer {
  int code = 0;
  std::map<std::string, std::string> headers;  // Names in lower case.
  std::string body;

  nlohmann::json json() const { return nlohmann::json::parse(body, nullptr, false); }
  // Of a Problem; empty: it is none.
  std::string reason() const;
};

class DashboardClient {
 public:
  using Headers = std::map<std::string, std::string>;

  explicit DashboardClient(uint16_t port) : port_(port) {}

  WebAnswer Do(const std::string& method, const std::string& target, const Headers& headers = {},
               const std::string& body = "") const;
  // The bytes as they are, and all that comes until the server closes.
  std::string Raw(const std::string& text) const;
  // What a stream has sent when `end` is in it; all of it if that never comes.
  std::string Stream(const std::string& target, const Headers& headers,
                     const std::string& end) const;

 private:
  std::string Exchange(const std::string& text, const std::string& end) const;

  const uint16_t port_;
};

inline DashboardClient::Headers Bearer(const std::string& token) {
  return {{"Authorization", "Bearer " + token}};
}

}  // namespace taas

#endif  // E2E_DASHBOARD_CLIENT_H_
