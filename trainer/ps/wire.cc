#include "trainer/ps/wire.h"

#include <utility>

namespace taas::ps {

using comm::FrameHead;
using comm::FrameType;

FrameHead HeadOf(FrameType type, const StagedPush& staged, uint32_t generation) {
  const PushId& push = staged.push;
  return {.type = type,
          .generation = generation,
          .rank = push.pusher.rank,
          .pod = push.pusher.pod,
          .start = push.pusher.start,
          .sequence = push.sequence,
          .batch = push.batch,
          .step = staged.base};
}

Pusher PusherOf(const FrameHead& head) { return {head.rank, head.pod, head.start}; }

StagedPush StagedOf(const FrameHead& head) {
  return {{PusherOf(head), head.sequence, head.batch}, head.step};
}

std::vector<FrameHead> HeadsOf(const Decision& decision, uint32_t generation) {
  FrameType type = FrameType::kCommit;
  switch (decision.kind) {
    case Decision::Kind::kCommit: break;
    case Decision::Kind::kDrop: type = FrameType::kDrop; break;
    case Decision::Kind::kBank: type = FrameType::kBank; break;
    case Decision::Kind::kFence: type = FrameType::kFenced; break;
    case Decision::Kind::kCut: type = FrameType::kCutAt; break;
  }
  std::vector<FrameHead> heads;
  for (const PushId& push : decision.pushes) {
    heads.push_back(HeadOf(type, {push, decision.step}, generation));
    heads.back().flags = comm::kFlagMore;
  }
  heads.back().flags = 0;
  return heads;
}

absl::StatusOr<std::optional<Decision>> DecisionReader::Take(const FrameHead& head) {
  switch (head.type) {
    case FrameType::kCommit: partial_.kind = Decision::Kind::kCommit; break;
    case FrameType::kDrop: partial_.kind = Decision::Kind::kDrop; break;
    case FrameType::kBank: partial_.kind = Decision::Kind::kBank; break;
    case FrameType::kFenced: partial_.kind = Decision::Kind::kFence; break;
    case FrameType::kCutAt: partial_.kind = Decision::Kind::kCut; break;
    default:
      return absl::InvalidArgumentError("a " + comm::FrameTypeName(head.type) +
                                        " frame is no decision of shard 0");
  }
  partial_.pushes.push_back(StagedOf(head).push);
  partial_.step = head.step;
  if ((head.flags & comm::kFlagMore) != 0) return std::optional<Decision>();
  return std::optional<Decision>(std::exchange(partial_, Decision()));
}

FrameHead HeadOf(const ValuesInfo& info, uint32_t generation) {
  FrameHead head{.type = FrameType::kValues, .generation = generation, .step = info.values_step};
  // A field that VALUES has no other use for.
  head.sequence = static_cast<uint64_t>(info.push_step);
  if (info.dropped) head.flags |= comm::kFlagDropped;
  if (info.banked) head.flags |= comm::kFlagBanked;
  if (info.takes_rows) head.flags |= comm::kFlagTakesRows;
  if (info.takes_narrow) head.flags |= comm::kFlagTakesNarrow;
  if (info.rows) head.flags |= comm::kFlagRows;
  if (info.batch) {
    head.flags |= comm::kFlagBatch;
    head.batch = *info.batch;
  }
  if (info.oldest) {
    head.flags |= comm::kFlagBounded;
    head.start = static_cast<uint64_t>(*info.oldest);
  }
  return head;
}

ValuesInfo ValuesInfoOf(const FrameHead& head) {
  ValuesInfo info{.values_step = head.step,
                  .push_step = static_cast<int64_t>(head.sequence),
                  .dropped = (head.flags & comm::kFlagDropped) != 0,
                  .banked = (head.flags & comm::kFlagBanked) != 0,
                  .batch = std::nullopt,
                  .oldest = std::nullopt,
                  .takes_rows = (head.flags & comm::kFlagTakesRows) != 0,
                  .rows = (head.flags & comm::kFlagRows) != 0,
                  .takes_narrow = (head.flags & comm::kFlagTakesNarrow) != 0};
  if ((head.flags & comm::kFlagBatch) != 0) info.batch = head.batch;
  if ((head.flags & comm::kFlagBounded) != 0) info.oldest = static_cast<int64_t>(head.start);
  return info;
}

wire::PusherId ToWire(const Pusher& pusher) {
  wire::PusherId out;
  out.set_rank(static_cast<int32_t>(pusher.rank));
  out.set_pod_number(pusher.pod);
  out.set_start(pusher.start);
  return out;
}

Pusher FromWire(const wire::PusherId& pusher) {
  return {static_cast<uint32_t>(pusher.rank()), static_cast<uint32_t>(pusher.pod_number()),
          pusher.start()};
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
