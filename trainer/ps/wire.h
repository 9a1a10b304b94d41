// Small conversions between the state machines of the parameter server and the wire.
//
// Ownership: pure functions. Threads: any. Errors: InvalidArgument for text that is not the
// message.
//
//   channel.Send(HeadOf(decision, generation));

#ifndef TRAINER_PS_WIRE_H_
#define TRAINER_PS_WIRE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/comm/frame.h"
#include "trainer/proto/shard.pb.h"
#include "trainer/ps/commit_core.h"

namespace taas::ps {

comm::FrameHead HeadOf(comm::FrameType type, const PushId& push, uint32_t generation);
PushId PushOf(const comm::FrameHead& head);

comm::FrameHead HeadOf(const Decision& decision, uint32_t generation);
// InvalidArgument if the frame is no decision.
absl::StatusOr<Decision> DecisionOf(const comm::FrameHead& head);

wire::CommittedBatches ToWire(const CommittedSet& committed);
CommittedSet FromWire(const wire::CommittedBatches& committed);

template <typename Message>
absl::StatusOr<Message> ParseMessage(const std::string& text) {
  Message message;
  if (!message.ParseFromString(text)) {
    return absl::InvalidArgumentError("a control frame holds no " + Message().GetTypeName());
  }
  return message;
}

}  // namespace taas::ps

#endif  // TRAINER_PS_WIRE_H_
