#include "trainer/ps/wire.h"

namespace taas::ps {

using comm::FrameHead;
using comm::FrameType;

FrameHead HeadOf(FrameType type, const PushId& push, uint32_t generation) {
  return {.type = type,
          .generation = generation,
          .rank = push.pusher.rank,
          .pod = push.pusher.pod,
          .start = push.pusher.start,
          .sequence = push.sequence,
          .batch = push.batch};
}

PushId PushOf(const FrameHead& head) {
  return {{head.rank, head.pod, head.start}, head.sequence, head.batch};
}

FrameHead HeadOf(const Decision& decision, uint32_t generation) {
  FrameType type = FrameType::kCommit;
  switch (decision.kind) {
    case Decision::Kind::kCommit: break;
    case Decision::Kind::kDrop: type = FrameType::kDrop; break;
    case Decision::Kind::kFence: type = FrameType::kFenced; break;
    case Decision::Kind::kCut: type = FrameType::kCutAt; break;
  }
  FrameHead head = HeadOf(type, decision.push, generation);
  head.step = decision.step;
  return head;
}

absl::StatusOr<Decision> DecisionOf(const FrameHead& head) {
  Decision decision;
  switch (head.type) {
    case FrameType::kCommit: decision.kind = Decision::Kind::kCommit; break;
    case FrameType::kDrop: decision.kind = Decision::Kind::kDrop; break;
    case FrameType::kFenced: decision.kind = Decision::Kind::kFence; break;
    case FrameType::kCutAt: decision.kind = Decision::Kind::kCut; break;
    default:
      return absl::InvalidArgumentError("a " + comm::FrameTypeName(head.type) +
                                        " frame is no decision of shard 0");
  }
  decision.push = PushOf(head);
  decision.step = head.step;
  return decision;
}

wire::CommittedBatches ToWire(const CommittedSet& committed) {
  wire::CommittedBatches out;
  out.set_watermark(committed.watermark());
  for (const int64_t batch : committed.above()) out.add_above(batch);
  return out;
}

CommittedSet FromWire(const wire::CommittedBatches& committed) {
  return CommittedSet(committed.watermark(),
                      {committed.above().begin(), committed.above().end()});
}

}  // namespace taas::ps
