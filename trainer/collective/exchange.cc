#include "trainer/collective/exchange.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/loops/bfloat16_loops.h"
#include "trainer/loops/loops.h"

namespace taas::collective {
namespace {

std::string Words(const Turn& turn, uint64_t bytes) {
  return "epoch " + std::to_string(turn.epoch) + ", step " + std::to_string(turn.step) +
         ", vector " + std::to_string(turn.vector) + " of " + std::to_string(bytes) + " bytes";
}

}  // namespace

std::string_view NameOf(Wire wire) { return wire == Wire::kBFloat16 ? "bfloat16" : "float32"; }

size_t BytesOf(Wire wire) {
  return wire == Wire::kBFloat16 ? sizeof(uint16_t) : sizeof(float);
}

Exchange::Exchange(Plan plan, Wire wire) : plan_(std::move(plan)), wire_(wire) {
  const auto ranks = static_cast<size_t>(plan_.place.ranks);
  sides_.resize(ranks);
  for (size_t i = 0; i < plan_.sendings.size(); ++i) {
    side(plan_.sendings[i].peer).sendings.push_back(i);
    bytes_to_send_ += static_cast<int64_t>(BytesOf(plan_.sendings[i].part));
  }
  size_t added = 0, largest = 0;
  for (const Receiving& receiving : plan_.receptions) {
    side(receiving.peer).receives = true;
    largest = std::max(largest, receiving.part.count);
    const bool adds = receiving.then == Then::kAdd || receiving.then == Then::kAddLast;
    if (adds) added = std::max(added, receiving.part.count);
  }
  if (wire_ == Wire::kBFloat16) {
    narrow_.resize(largest);
  } else {
    arrived_.resize(added);
  }
  if (plan_.adds_at_end) {
    kept_.resize((ranks - 1) * plan_.elements);
    in_order_.resize(ranks);
  }
  float* free = kept_.data();
  for (int peer = 0; peer < plan_.place.ranks; ++peer) {
    if (peer == plan_.place.rank) continue;
    if (plan_.adds_at_end) side(peer).kept = std::exchange(free, free + plan_.elements);
    if (side(peer).receives || !side(peer).sendings.empty()) peers_.push_back(peer);
  }
}

void Exchange::Begin(const Turn& turn, std::span<float> values) {
  CHECK(values.size() == plan_.elements) << "a vector of another size";
  turn_ = turn;
  values_ = values;
  receptions_done_ = received_ = added_ = sendings_done_ = 0;
  for (const int peer : peers_) {
    Side& with = side(peer);
    comm::EncodeFrameHead({.type = comm::FrameType::kReduce,
                           .generation = turn.epoch,
                           .rank = static_cast<uint32_t>(plan_.place.rank),
                           .sequence = turn.vector,
                           .step = turn.step,
                           .payload_bytes = BytesOf({0, plan_.elements})},
                          with.head_out.data());
    with.head_sent = with.sendings.empty() ? comm::kFrameHeadBytes : 0;
    with.head_received = with.receives ? 0 : comm::kFrameHeadBytes;
    with.next = with.sent = 0;
    with.narrowed = false;
  }
  // Others add what they are sent of it.
  if (plan_.adds_at_end && wire_ == Wire::kBFloat16) Round(values_);
  done_ = false;
  EndIfDone();
}

std::span<const std::byte> Exchange::ToSend(int peer) {
  Side& with = side(peer);
  if (with.head_sent < with.head_out.size()) {
    return std::as_bytes(std::span(with.head_out)).subspan(with.head_sent);
  }
  if (with.next == with.sendings.size()) return {};
  const Sending& sending = plan_.sendings[with.sendings[with.next]];
  if (sending.after > receptions_done_) return {};
  const std::span<const float> part = values_.subspan(sending.part.begin, sending.part.count);
  if (wire_ == Wire::kFloat32) return std::as_bytes(part).subspan(with.sent);
  with.narrow.resize(part.size());
  if (!std::exchange(with.narrowed, true)) {
    BestBFloat16Loops().round(part.data(), with.narrow.data(), std::ssize(part));
  }
  return std::as_bytes(std::span(with.narrow)).subspan(with.sent);
}

void Exchange::Sent(int peer, size_t bytes) {
  Side& with = side(peer);
  if (with.head_sent < with.head_out.size()) {
    with.head_sent += bytes;
    return;
  }
  with.sent += bytes;
  if (with.sent < BytesOf(plan_.sendings[with.sendings[with.next]].part)) return;
  with.sent = 0;
  with.narrowed = false;
  ++with.next;
  ++sendings_done_;
  EndIfDone();
}

std::span<std::byte> Exchange::ToReceive(int peer) {
  Side& with = side(peer);
  if (with.head_received < with.head_in.size()) {
    return std::as_writable_bytes(std::span(with.head_in)).subspan(with.head_received);
  }
  if (receptions_done_ == plan_.receptions.size()) return {};
  const Receiving& receiving = plan_.receptions[receptions_done_];
  if (receiving.peer != peer) return {};
  const size_t count = receiving.part.count;
  if (wire_ == Wire::kBFloat16) {
    return std::as_writable_bytes(std::span(narrow_).first(count)).subspan(received_);
  }
  return std::as_writable_bytes(std::span(Target(receiving), count)).subspan(received_);
}

absl::Status Exchange::Received(int peer, size_t bytes) {
  Side& with = side(peer);
  if (with.head_received < with.head_in.size()) {
    with.head_received += bytes;
    return with.head_received < with.head_in.size() ? absl::OkStatus() : CheckHead(peer);
  }
  const Receiving& receiving = plan_.receptions[receptions_done_];
  received_ += bytes;
  if (received_ < BytesOf(receiving.part)) return absl::OkStatus();
  if (wire_ == Wire::kBFloat16) {
    TakeNarrow(receiving);
  } else {
    Take(receiving);
  }
  received_ = added_ = 0;
  ++receptions_done_;
  EndIfDone();
  return absl::OkStatus();
}

absl::StatusOr<size_t> Exchange::Use(int peer, std::span<const std::byte> bytes) {
  size_t used = 0;
  while (used < bytes.size()) {
    const std::span<std::byte> into = ToReceive(peer);
    if (into.empty()) break;
    const auto next = bytes.subspan(used, std::min(into.size(), bytes.size() - used));
    size_t count = AddFrom(peer, next);
    if (count == 0) {
      count = next.size();
      std::memcpy(into.data(), next.data(), count);
    }
    RETURN_IF_ERROR(Received(peer, count));
    used += count;
  }
  return used;
}

size_t Exchange::AddFrom(int peer, std::span<const std::byte> bytes) {
  // Heads are looked at; of a part that was copied in the middle the rest is copied, too; and a
  // number that has come by halves is.
  const Side& with = side(peer);
  if (with.head_received < with.head_in.size() || wire_ != Wire::kFloat32) return 0;
  const Receiving& receiving = plan_.receptions[receptions_done_];
  const bool adds = receiving.then == Then::kAdd || receiving.then == Then::kAddLast;
  const bool whole = reinterpret_cast<uintptr_t>(bytes.data()) % alignof(float) == 0;
  const size_t count = bytes.size() / sizeof(float);
  if (!adds || !whole || received_ != added_ || count == 0) return 0;
  float* const sum = values_.data() + receiving.part.begin + added_ / sizeof(float);
  BestLoops().add(sum, reinterpret_cast<const float*>(bytes.data()), sum,
                  static_cast<int64_t>(count));
  added_ += count * sizeof(float);
  return count * sizeof(float);
}

void Exchange::Take(const Receiving& receiving) {
  if (receiving.then == Then::kTake || receiving.then == Then::kKeep) return;
  const size_t before = added_ / sizeof(float);
  float* const sum = values_.data() + receiving.part.begin + before;
  BestLoops().add(sum, arrived_.data() + before, sum,
                  static_cast<int64_t>(receiving.part.count - before));
}

void Exchange::TakeNarrow(const Receiving& receiving) {
  const BFloat16Loops& loops = BestBFloat16Loops();
  const auto count = static_cast<int64_t>(receiving.part.count);
  if (receiving.then == Then::kTake || receiving.then == Then::kKeep) {
    loops.widen(narrow_.data(), Target(receiving), count);
    return;
  }
  const std::span<float> sum = values_.subspan(receiving.part.begin, receiving.part.count);
  loops.add(narrow_.data(), sum.data(), count);
  if (receiving.then == Then::kAddLast) Round(sum);
}

// In pieces that the memory of a chunk holds.
void Exchange::Round(std::span<float> values) {
  const BFloat16Loops& loops = BestBFloat16Loops();
  while (!values.empty()) {
    const std::span<float> piece = values.first(std::min(values.size(), narrow_.size()));
    loops.round(piece.data(), narrow_.data(), std::ssize(piece));
    loops.widen(narrow_.data(), piece.data(), std::ssize(piece));
    values = values.subspan(piece.size());
  }
}

std::optional<int> Exchange::waits_for() const {
  if (done_ || receptions_done_ == plan_.receptions.size()) return std::nullopt;
  return plan_.receptions[receptions_done_].peer;
}

float* Exchange::Target(const Receiving& receiving) {
  switch (receiving.then) {
    case Then::kAdd:
    case Then::kAddLast: return arrived_.data();
    case Then::kTake: return values_.data() + receiving.part.begin;
    case Then::kKeep: return side(receiving.peer).kept + receiving.part.begin;
  }
  return nullptr;
}

absl::Status Exchange::CheckHead(int peer) const {
  const Side& with = sides_[static_cast<size_t>(peer)];
  ASSIGN_OR_RETURN(const comm::FrameHead head, comm::DecodeFrameHead(with.head_in.data()));
  const Turn theirs{head.generation, head.step, head.sequence};
  const uint64_t bytes = BytesOf({0, plan_.elements});
  if (head.type == comm::FrameType::kReduce && static_cast<int>(head.rank) == peer &&
      theirs == turn_ && head.payload_bytes == bytes) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      "all-reduce with rank " + std::to_string(peer) + ": it sends " +
      comm::FrameTypeName(head.type) + " of rank " + std::to_string(head.rank) + ", " +
      Words(theirs, head.payload_bytes) + "; rank " + std::to_string(plan_.place.rank) +
      " is at " + Words(turn_, bytes) +
      ": ranks must have the same program, model, batch size and precision");
}

void Exchange::EndIfDone() {
  if (done_ || receptions_done_ < plan_.receptions.size() ||
      sendings_done_ < plan_.sendings.size()) {
    return;
  }
  if (plan_.adds_at_end) AddKept();
  done_ = true;
}

void Exchange::AddKept() {
  for (int rank = 0; rank < plan_.place.ranks; ++rank) {
    in_order_[static_cast<size_t>(rank)] =
        rank == plan_.place.rank ? values_.data() : side(rank).kept;
  }
  // Into rank 0's, which no other is: the sum may be made in place of its first only.
  float* const sum = plan_.place.rank == 0 ? values_.data() : side(0).kept;
  BestLoops().scaled_sum(in_order_.data(), static_cast<int64_t>(in_order_.size()), 1, sum,
                         static_cast<int64_t>(plan_.elements));
  if (sum != values_.data()) std::memcpy(values_.data(), sum, values_.size_bytes());
}

}  // namespace taas::collective
