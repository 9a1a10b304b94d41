// Serves `GET /status` over HTTP.
//
// Ownership: owns its socket and one thread; `body` must stay callable while it lives. Threads:
// `body` is called on the server's thread. Errors: ResourceExhausted if the port is taken; bad
// requests get 4xx.
//
//   ASSIGN_OR_RETURN(auto server,
//                    StatusServer::Start("127.0.0.1", 2223, [&] { return board.Json(); }));

#ifndef TRAINER_STATUS_STATUS_SERVER_H_
#define TRAINER_STATUS_STATUS_SERVER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace taas {

class StatusServer {
 public:
  using Body = std::function<std::string()>;
  // `host` "" listens on all addresses, `port` 0 takes a free one.
  static absl::StatusOr<std::unique_ptr<StatusServer>> Start(const std::string& host, int port,
                                                             Body body);
  ~StatusServer();

  int port() const;

 private:
  struct State;
  explicit StatusServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace taas

#endif  // TRAINER_STATUS_STATUS_SERVER_H_
