// Small conversions between the state machines of the parameter server and the wire.
//
// Ownership: pure functions. Threads: any. Errors: InvalidArgument for text that is not the
// message.
//
//   channel.SendAtOnce(HeadsOf(decision, generation));

#ifndef TRAINER_PS_WIRE_H_
#define TRAINER_PS_WIRE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/comm/frame.h"
#include "trainer/proto/shard.pb.h"
#include "trainer/ps/commit_core.h"

namespace taas::ps {

// PUSH, PUSH_ROWS and STAGED.
comm::FrameHead HeadOf(comm::FrameType type, const StagedPush& staged, uint32_t generation);
StagedPush StagedOf(const comm::FrameHead& head);
Pusher PusherOf(const comm::FrameHead& head);

// One head, but for a commit one for each push.
std::vector<comm::FrameHead> HeadsOf(const Decision& decision, uint32_t generation);
// Takes the heads of a stream in one by one.
class DecisionReader {
 public:
  // A decision when `head` completes it. InvalidArgument if the frame is no decision.
  absl::StatusOr<std::optional<Decision>> Take(const comm::FrameHead& head);

 private:
  Decision partial_;
};

// What a VALUES frame says besides the values.
struct ValuesInfo {
  int64_t values_step = 0;
  int64_t push_step = 0;  // PUSH: the step that it made or at which it was settled.
  bool dropped = false;
  bool banked = false;
  std::optional<int64_t> batch;
  // Of a bound on staleness: the shards' values may be of different steps, none below this.
  std::optional<int64_t> oldest{};
  bool takes_rows = true;  // Whether who sends it takes PUSH_ROWS.
  bool rows = false;       // The values are the rows that changed.
  bool takes_narrow = true;  // Whether who sends it takes gradients in bfloat16.
};
comm::FrameHead HeadOf(const ValuesInfo& info, uint32_t generation);
ValuesInfo ValuesInfoOf(const comm::FrameHead& head);

wire::PusherId ToWire(const Pusher& pusher);
Pusher FromWire(const wire::PusherId& pusher);
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
