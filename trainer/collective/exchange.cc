#include "trainer/collective/exchange.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/loops/loops.h"

namespace taas::collective {
namespace {

std::string Words(const Turn& turn, uint64_t bytes) {
  return "epoch " + std::to_string(turn.epoch) + ", step " + std::to_string(turn.step) +
         ", vector " + std::to_string(turn.vector) + " of " + std::to_string(bytes) + " bytes";
}

size_t BytesOf(const Part& part) { return part.count * sizeof(float); }

}  // namespace

Exchange::Exchange(Plan plan) : plan_(std::move(plan)) {
  const auto ranks = static_cast<size_t>(plan_.place.ranks);
  sides_.resize(ranks);
  for (size_t i = 0; i < plan_.sendings.size(); ++i) {
    side(plan_.sendings[i].peer).sendings.push_back(i);
    bytes_to_send_ += static_cast<int64_t>(BytesOf(plan_.sendings[i].part));
  }
  size_t largest = 0;
  for (const Receiving& receiving : plan_.receptions) {
    side(receiving.peer).receives = true;
    if (receiving.then == Then::kAdd) largest = std::max(largest, receiving.part.count);
  }
  arrived_.resize(largest);
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
  receptions_done_ = received_ = sendings_done_ = 0;
  for (const int peer : peers_) {
    Side& with = side(peer);
    comm::EncodeFrameHead({.type = comm::FrameType::kReduce,
                           .generation = turn.epoch,
                           .rank = static_cast<uint32_t>(plan_.place.rank),
                           .sequence = turn.vector,
                           .step = turn.step,
                           .payload_bytes = plan_.elements * sizeof(float)},
                          with.head_out.data());
    with.head_sent = with.sendings.empty() ? comm::kFrameHeadBytes : 0;
    with.head_received = with.receives ? 0 : comm::kFrameHeadBytes;
    with.next = with.sent = 0;
  }
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
  return std::as_bytes(values_.subspan(sending.part.begin, sending.part.count))
      .subspan(with.sent);
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
  return std::as_writable_bytes(std::span(Target(receiving), receiving.part.count))
      .subspan(received_);
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
  if (receiving.then == Then::kAdd) {
    float* const sum = values_.data() + receiving.part.begin;
    BestLoops().add(sum, arrived_.data(), sum, static_cast<int64_t>(receiving.part.count));
  }
  received_ = 0;
  ++receptions_done_;
  EndIfDone();
  return absl::OkStatus();
}

std::optional<int> Exchange::waits_for() const {
  if (done_ || receptions_done_ == plan_.receptions.size()) return std::nullopt;
  return plan_.receptions[receptions_done_].peer;
}

float* Exchange::Target(const Receiving& receiving) {
  switch (receiving.then) {
    case Then::kAdd: return arrived_.data();
    case Then::kTake: return values_.data() + receiving.part.begin;
    case Then::kKeep: return side(receiving.peer).kept + receiving.part.begin;
  }
  return nullptr;
}

absl::Status Exchange::CheckHead(int peer) const {
  const Side& with = sides_[static_cast<size_t>(peer)];
  ASSIGN_OR_RETURN(const comm::FrameHead head, comm::DecodeFrameHead(with.head_in.data()));
  const Turn theirs{head.generation, head.step, head.sequence};
  const uint64_t bytes = plan_.elements * sizeof(float);
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
