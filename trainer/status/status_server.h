// Serves pages over HTTP: `GET /status` and the like.
//
// Ownership: owns its socket and two threads; the pages must stay callable while it lives. Threads:
// pages are called on the server's thread, one at a time, and those that read a disk on another, so
// that one that hangs keeps nobody from the rest. Errors: ResourceExhausted if the port is taken;
// bad requests get 4xx, as does who asks for another host than ours (operator/base/own_host.h), and
// 503 what waits for the disk when too much does. Where all places are taken the connection that
// has its place for longest gives way, so that who keeps many open starves nobody.
//
//   const StatusServer::Pages pages = {{"/status", {[&](const std::string&) { return body; }}}};
//   ASSIGN_OR_RETURN(auto server, StatusServer::Start("127.0.0.1", 2223, pages));

#ifndef TRAINER_STATUS_STATUS_SERVER_H_
#define TRAINER_STATUS_STATUS_SERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "operator/base/own_host.h"

namespace taas {

class StatusServer {
 public:
  // The body of a page for a query, what follows the "?". An error is the client's: 400.
  using Body = std::function<absl::StatusOr<std::string>(const std::string& query)>;
  struct Page {
    Body body;
    std::string content_type = "application/json";
    bool reads_disk = false;
  };
  using Pages = std::map<std::string, Page>;  // By path.
  // `host` "" listens on all addresses, `port` 0 takes a free one.
  static absl::StatusOr<std::unique_ptr<StatusServer>> Start(const std::string& host, int port,
                                                             Pages pages, HostNames names = {});
  ~StatusServer();

  int port() const;

 private:
  struct State;
  explicit StatusServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace taas

#endif  // TRAINER_STATUS_STATUS_SERVER_H_
