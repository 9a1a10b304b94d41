// Plain requests over HTTPS to a server on this machine, for tests: one connection, one at a time.
//
// Not the operator's transport: what tests that one must not be it.
//
// Ownership: the object owns its connection. Threads: one. Errors: Unavailable naming the request;
// an answer of any status code is not an error.
//
//   HttpClient client({.port = 6443, .ca_file = ca, .token = token});
//   ASSIGN_OR_RETURN(const HttpAnswer answer, client.Do("GET", "/readyz"));

#ifndef E2E_HTTP_CLIENT_H_
#define E2E_HTTP_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taas {

struct HttpAnswer {
  int code = 0;
  std::string body;
};

class HttpClient {
 public:
  struct Options {
    uint16_t port = 0;    // On 127.0.0.1.
    std::string ca_file;  // PEM; the server's certificate is verified with it.
    std::string token;
  };
  explicit HttpClient(Options options);
  ~HttpClient();

  absl::StatusOr<HttpAnswer> Do(const std::string& method, const std::string& target,
                                const std::string& body = "",
                                const std::string& content_type = "application/json",
                                std::string_view accept = "application/json");

 private:
  struct Connection;

  absl::StatusOr<HttpAnswer> Exchange(const std::string& method, const std::string& target,
                                      const std::string& body, const std::string& content_type,
                                      std::string_view accept);

  const Options options_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace taas

#endif  // E2E_HTTP_CLIENT_H_
