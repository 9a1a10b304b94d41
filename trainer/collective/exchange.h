// One rank's side of one all-reduce, as bytes that go to and come from each peer. Whoever has the
// connections moves the bytes: sockets, shared memory, or a network of a test.
//
// To each peer a head (trainer/comm/frame.h, REDUCE) goes first, which says of which epoch, step
// and vector what follows is: ranks that do not agree about it find out before a number is added.
// Then follow the numbers that the plan sends to this peer.
//
// In bfloat16 numbers are rounded as they are sent, and added in float32 where they come. A rank
// rounds, too, what it has and others are sent: its sums before they are spread, and its own
// numbers where each adds all, so that all ranks have the same bits.
//
// An exchange is made once for a vector and begun anew in each step; then nothing is allocated.
//
// Ownership: owns its plan and what arrives; borrows the vector until it is done. Threads: one at a
// time. Errors: FailedPrecondition, with both sides' words, for a peer that is at another epoch,
// step or vector; DataLoss for what is no head. The vector is of no use then.
//
//   exchange.Begin({.epoch = 3, .step = 17, .vector = 0}, gradients);
//   while (!exchange.done()) { … ToSend(peer), Sent(peer, bytes), ToReceive(peer), Received(…) … }

#ifndef TRAINER_COLLECTIVE_EXCHANGE_H_
#define TRAINER_COLLECTIVE_EXCHANGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/collective/plan.h"
#include "trainer/comm/frame.h"

namespace taas::collective {

// Which exchange it is: all ranks of an epoch make the same ones in the same order.
struct Turn {
  uint32_t epoch = 0;
  int64_t step = 0;
  uint64_t vector = 0;

  bool operator==(const Turn&) const = default;
};

// How numbers go between ranks.
enum class Wire : uint8_t { kFloat32, kBFloat16 };
std::string_view NameOf(Wire wire);
size_t BytesOf(Wire wire);  // Of a number.

class Exchange {
 public:
  explicit Exchange(Plan plan, Wire wire = Wire::kFloat32);

  const Plan& plan() const { return plan_; }
  // Of the values that this rank sends in all.
  int64_t bytes_to_send() const { return bytes_to_send_; }
  // `values` has the plan's elements: this rank's numbers, in the end the sums.
  void Begin(const Turn& turn, std::span<float> values);

  // What can go to `peer` now; empty if nothing can, or nothing is left.
  std::span<const std::byte> ToSend(int peer);
  // So many of the bytes of ToSend have gone. They may be read no more by whoever sends.
  void Sent(int peer, size_t bytes);
  // Where what comes from `peer` next is to be put; empty if it must wait, or nothing is left.
  std::span<std::byte> ToReceive(int peer);
  absl::Status Received(int peer, size_t bytes);
  // The same of bytes that lie elsewhere, which are added from there: how many of them were used,
  // none if it must wait.
  absl::StatusOr<size_t> Use(int peer, std::span<const std::byte> bytes);
  // What goes to a peer is not changed before that has read it, nor by the end of the exchange: it
  // may be lent.
  bool lends() const { return !plan_.adds_at_end && wire_ == Wire::kFloat32; }

  bool done() const { return done_; }
  // Whose bytes it cannot do without now; nobody's if it only has to send.
  std::optional<int> waits_for() const;
  // All with whom something is exchanged, ascending.
  const std::vector<int>& peers() const { return peers_; }

 private:
  using Head = std::array<char, comm::kFrameHeadBytes>;
  // With one peer.
  struct Side {
    std::vector<size_t> sendings;  // Of the plan.
    bool receives = false;
    float* kept = nullptr;  // Of a plan that adds at its end: the peer's vector.
    // Of what is under way.
    Head head_out{}, head_in{};
    size_t head_sent = comm::kFrameHeadBytes, head_received = comm::kFrameHeadBytes;
    size_t next = 0;  // In sendings.
    size_t sent = 0;  // Bytes of that one.
    std::vector<uint16_t> narrow;  // That one, in bfloat16, once it may begin.
    bool narrowed = false;
  };

  Side& side(int peer) { return sides_[static_cast<size_t>(peer)]; }
  absl::Status CheckHead(int peer) const;
  size_t BytesOf(const Part& part) const { return part.count * collective::BytesOf(wire_); }
  float* Target(const Receiving& receiving);
  // Adds what of these bytes is of the part that is next; 0 where they are not to be added.
  size_t AddFrom(int peer, std::span<const std::byte> bytes);
  // All of it has come, where ToReceive said.
  void Take(const Receiving& receiving);
  void TakeNarrow(const Receiving& receiving);
  void Round(std::span<float> values);
  void EndIfDone();
  void AddKept();

  const Plan plan_;
  const Wire wire_;
  int64_t bytes_to_send_ = 0;
  std::vector<int> peers_;
  std::vector<Side> sides_;  // By rank.
  std::vector<float> arrived_;  // The chunk that is to be added.
  std::vector<uint16_t> narrow_;  // In bfloat16: the chunk that comes, or is rounded.
  std::vector<float> kept_;     // Vectors of all peers.
  std::vector<const float*> in_order_;
  Turn turn_;
  std::span<float> values_;
  size_t receptions_done_ = 0;
  size_t received_ = 0;  // Bytes of the first that is not.
  size_t added_ = 0;     // Of these, those that were added as they came: its beginning.
  size_t sendings_done_ = 0;
  bool done_ = true;
};

}  // namespace taas::collective

#endif  // TRAINER_COLLECTIVE_EXCHANGE_H_
