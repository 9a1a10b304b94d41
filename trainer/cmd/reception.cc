#include "trainer/cmd/reception.h"

namespace taas {

wire::JoinReply Reception::Join(const wire::JoinRequest& request) {
  if (ChiefHandler* const chief = chief_) return chief->Join(request);
  wire::JoinReply reply;
  reply.set_verdict(wire::JoinReply::LATER);
  reply.set_sentence("the chief loads its data and opens the checkpoint directory");
  reply.set_getting_ready(true);
  return reply;
}

wire::BeatReply Reception::Beat(const wire::BeatRequest& request) {
  if (ChiefHandler* const chief = chief_) return chief->Beat(request);
  wire::BeatReply reply;
  reply.set_verdict(wire::BeatReply::JOIN_AGAIN);
  reply.set_sentence("the chief has started anew");
  return reply;
}

void Reception::Leave(const wire::LeaveRequest& request) {
  if (ChiefHandler* const chief = chief_) chief->Leave(request);
}

}  // namespace taas
