// The chief's gRPC service on its TF_CONFIG port. What to answer is the handler's business.
//
// Where the job has a token (trainer/comm/greeting.h) a call without it does not reach the handler.
//
// Ownership: borrows the handler, which outlives it. Threads: the handler is called from any number
// of threads at once and may block for a heartbeat's hold time. Errors: ResourceExhausted if the
// port is taken.
//
//   ASSIGN_OR_RETURN(auto server, ChiefServer::Start("127.0.0.1", 2222, desk));

#ifndef TRAINER_CLUSTER_CHIEF_SERVER_H_
#define TRAINER_CLUSTER_CHIEF_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "trainer/proto/chief.pb.h"

namespace taas {

class ChiefHandler {
 public:
  virtual ~ChiefHandler() = default;
  virtual wire::JoinReply Join(const wire::JoinRequest& request) = 0;
  virtual wire::BeatReply Beat(const wire::BeatRequest& request) = 0;
  virtual void Leave(const wire::LeaveRequest& request) = 0;
};

class ChiefServer {
 public:
  // `host` "" listens on all addresses, `port` 0 takes a free one. `token` "": anybody is served.
  static absl::StatusOr<std::unique_ptr<ChiefServer>> Start(const std::string& host, int port,
                                                            ChiefHandler& handler,
                                                            std::string token = "");
  // Ends calls that are under way.
  ~ChiefServer();

  int port() const;

 private:
  struct State;
  explicit ChiefServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace taas

#endif  // TRAINER_CLUSTER_CHIEF_SERVER_H_
