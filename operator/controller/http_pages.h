// A small HTTP server for pages that machines read: /metrics, /healthz, /readyz.
//
// A browser that was told another site's name for our address (DNS rebinding) is refused: whoever
// asks does so by an address, as localhost, or by a name that a cluster gives its services.
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
#include <string_view>

#include "absl/status/statusor.h"

namespace taas {

struct HttpPage {
  int code = 404;
  std::string text = "not found\n";
};

// Of what a program in a cluster is called there.
struct ClusterNames {
  std::string ns;              // Its own; empty: not known.
  std::string cluster_domain;  // Empty: cluster.local.
};

// `host` as a request says it, with or without a port: an address, localhost, or a service's name:
// NAME, NAME.NAMESPACE of our own, NAME.NAMESPACE.svc, NAME.NAMESPACE.svc.DOMAIN. Empty is right as
// well: no browser sends none.
bool IsOwnHost(std::string_view host, const ClusterNames& names);

class HttpPages {
 public:
  using Make = std::function<HttpPage(const std::string& path)>;

  // `address` is "host:port" with a numeric host or "localhost"; port 0: any free one.
  static absl::StatusOr<std::unique_ptr<HttpPages>> Start(const std::string& address, Make make,
                                                          ClusterNames names = {});
  ~HttpPages();
  int port() const;

 private:
  class Server;
  explicit HttpPages(std::unique_ptr<Server> server);
  const std::unique_ptr<Server> server_;
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_HTTP_PAGES_H_
