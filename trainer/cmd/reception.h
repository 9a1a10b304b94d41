// Answers the calls of other replicas before their chief can: that it gets ready, then as it says.
//
// Ownership: borrows the chief. Threads: as ChiefHandler; Open from one. Errors: none.
//
//   auto server = ChiefServer::Start(host, port, reception);
//   … load data …
//   reception.Open(coordinator->desk());

#ifndef TRAINER_CMD_RECEPTION_H_
#define TRAINER_CMD_RECEPTION_H_

#include <atomic>

#include "trainer/cluster/chief_server.h"

namespace taas {

class Reception : public ChiefHandler {
 public:
  void Open(ChiefHandler& chief) { chief_ = &chief; }

  wire::JoinReply Join(const wire::JoinRequest& request) override;
  wire::BeatReply Beat(const wire::BeatRequest& request) override;
  void Leave(const wire::LeaveRequest& request) override;

 private:
  std::atomic<ChiefHandler*> chief_ = nullptr;
};

}  // namespace taas

#endif  // TRAINER_CMD_RECEPTION_H_
