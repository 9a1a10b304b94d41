// A small HTTP server for pages that machines read: /metrics, /healthz, /readyz.
//
// Who asks for another host than ours is refused (operator/base/own_host.h).
//
// Ownership: owns its thread and socket. Threads: Start from any thread; pages are made on the
// server's own thread, one at a time. Errors: Start fails with Unavailable for an address that
// cannot be listened on, InvalidArgument for one that is none.
//
//   ASSIGN_OR_RETURN(auto pages, HttpPages::Start("127.0.0.1:0", [](const auto& path) { … }));

#ifndef OPERATOR_CONTROLLER_HTTP_PAGES_H_
#define OPERATOR_CONTROLLER_HTTP_PAGES_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "operator/base/own_host.h"

namespace taas {

struct HttpPage {
  int code = 404;
  std::string text = "not found\n";
};

class HttpPages {
 public:
  using Make = std::function<HttpPage(const std::string& path)>;

  // `address` is "host:port" with a numeric host or "localhost"; port 0: any free one.
  static absl::StatusOr<std::unique_ptr<HttpPages>> Start(const std::string& address, Make make,
                                                          HostNames names = {});
  ~HttpPages();
  int port() const;

 private:
  class Server;
  explicit HttpPages(std::unique_ptr<Server> server);
  const std::unique_ptr<Server> server_;
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_HTTP_PAGES_H_
