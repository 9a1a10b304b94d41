// One connection between two replicas of a job: frames out, frames in, blocking.
//
// Over TCP payloads are gathered from and scattered to the caller's memory (writev, readv). Two
// processes of one machine are connected by a Unix socket instead (local_socket.h), and payloads of
// some size go through memory that the sender shares (shared_area.h): a copy of its own that it
// writes again for its next payload, or memory of the caller that already holds what is sent. So a
// side that has sent a payload sends the next only when the first was read, as request and answer
// do by themselves. README.md has the grammar.
//
// Ownership: owns its socket. Threads: one sender and one receiver at a time; Shutdown from any
// thread wakes both. Errors: Unavailable (refused, reset, closed, silent), DataLoss (not a frame:
// frame.h); each names the peer. After an error the channel is of no use.
//
//   ASSIGN_OR_RETURN(auto channel, Channel::Connect("ps-0.job:41234", {.patience = 2s}));
//   RETURN_IF_ERROR(channel->Send(head, {{gradient.data(), gradient.size_bytes()}}));
//   ASSIGN_OR_RETURN(FrameHead answer, channel->ReceiveHead());

#ifndef TRAINER_COMM_CHANNEL_H_
#define TRAINER_COMM_CHANNEL_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/comm/frame.h"
#include "trainer/comm/shared_area.h"

namespace taas::comm {

struct ConstBlock {
  const void* data = nullptr;
  size_t bytes = 0;
};
struct Block {
  void* data = nullptr;
  size_t bytes = 0;
};

// A peer that acknowledges no byte for this long is gone: the heartbeat's limit (5 × 2 s), so that
// a cut network is noticed here no later than there.
constexpr std::chrono::milliseconds kSilenceMax{10'000};
// Holds a shard of a small model, so that a sender does not wait for the receiver's first read.
constexpr int kSocketBufferBytes = 4 << 20;
// A head of a control frame; larger text is damage.
constexpr uint64_t kTextBytesMax = 64 << 20;

class Channel {
 public:
  struct Options {
    std::chrono::milliseconds patience{2'000};  // For name lookup aside, the time to connect.
  };
  // Resolves the name anew at every call: a restarted peer may have another address.
  static absl::StatusOr<std::unique_ptr<Channel>> Connect(const std::string& address,
                                                          Options options);
  // Takes a connected socket over.
  Channel(int socket, std::string peer);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  const std::string& peer() const { return peer_; }

  // From now on a call that moves no byte for `limit` fails with Unavailable; without this, or with
  // 0, only a peer that takes nothing for kSilenceMax is noticed (by TCP: whose kernel does not
  // acknowledge).
  void LimitSilence(std::chrono::milliseconds limit);

  // `head.payload_bytes` is set from `payload`. OK as well if the peer has gone and left something
  // to be received: an answer tells more than that.
  absl::Status Send(FrameHead head, std::span<const ConstBlock> payload);
  absl::Status Send(const FrameHead& head, const std::string& payload = "");
  // Of the first `bytes` of `area`, without a copy if possible. `keep` lives until the peer's next
  // head has come, before which it may still read, or this channel ends.
  absl::Status SendShared(FrameHead head, const SharedArea& area, size_t bytes,
                          std::shared_ptr<const void> keep);
  // What is kept, at the end of a connection that somebody else still owns.
  void LetGo();
  // Lets all shared memory of both directions go. Both ends do so between the same two frames.
  void ForgetShared();
  // Heads without payloads, together; never waits: Unavailable if the socket would.
  absl::Status SendAtOnce(std::span<const FrameHead> heads);
  absl::Status SendAtOnce(const FrameHead& head) { return SendAtOnce(std::span(&head, 1)); }

  absl::StatusOr<FrameHead> ReceiveHead();
  // Exactly the blocks' bytes of the payload of the head before.
  absl::Status ReceiveInto(std::span<const Block> blocks);
  // The payload of the head before where it lies in the peer's memory; empty if it comes by the
  // socket. It stays until the peer sends another, which it does only after an answer, or this
  // channel ends. Takes the place of ReceiveInto.
  std::span<const char> PayloadInPlace() const;
  // After the payload of the head before was received, if such a one is seldom: a peer that answers
  // from many places, each of the size of its values, must not have all of them in the memory of
  // this process, too.
  void LetPayloadPagesGo();
  absl::StatusOr<std::string> ReceiveText(uint64_t bytes);
  absl::Status Discard(uint64_t bytes);

  // The connection for who goes on with it in another way than by frames, between two of which it
  // is. This channel is over, and its end is not the connection's.
  absl::StatusOr<int> TakeSocket();

  // Wakes blocked calls on both sides; they fail.
  void Shutdown();
  // False once the peer has closed or reset and all was received; reads nothing.
  bool LooksAlive() const;
  // Whether the peer has closed or reset, or was given up by the kernel, though something that it
  // sent before may be left to be received: it takes no answer any more.
  bool PeerHasGone() const;

 private:
  friend std::vector<bool> WaitReadable(const std::vector<const Channel*>& channels,
                                        std::chrono::milliseconds patience);
  absl::Status Broken(const char* call, int error) const;
  // The descriptor goes with the first byte; -1 for none.
  absl::Status SendBlocks(std::span<const ConstBlock> blocks, int descriptor);
  // Whether the payload now lies in out_area_; `fresh` if the peer does not know that memory yet.
  bool Share(std::span<const ConstBlock> payload, uint64_t bytes, bool* fresh);
  struct Arrived;
  absl::Status ReceiveHeadBytes(char* wire, Arrived* arrived);
  absl::Status KnowPayload(const FrameHead& head, Arrived* arrived);
  absl::Status ReceiveShared(std::span<const Block> into);
  // The place of `area` among those that the peer knows; none is left for another: nullopt.
  std::optional<size_t> SlotOf(const SharedArea& area, bool* fresh);

  const int socket_;
  const std::string peer_;
  std::atomic<bool> taken_ = false;  // Somebody else has the connection.
  std::chrono::milliseconds silence_max_{0};  // 0: none.
  bool may_share_;
  SharedArea out_area_;                // Slot 0: for copies.
  std::vector<uint64_t> lent_;         // Slots from 1 on: ids of the callers' areas.
  std::shared_ptr<const void> kept_;   // What the peer may be reading.
  std::vector<SharedArea> in_areas_;   // The peer's, by slot.
  // What is to be read of the last head's payload, if it lies in one of them; else null.
  std::span<const char> in_payload_;
  size_t in_slot_ = 0;  // Which one that is.
};

// Waits until one of `channels` can be read or has broken, at most `patience`. Says for each
// whether it can.
std::vector<bool> WaitReadable(const std::vector<const Channel*>& channels,
                               std::chrono::milliseconds patience);

// Splits "host:port" and "[v6]:port".
absl::StatusOr<std::pair<std::string, std::string>> SplitAddress(const std::string& address);

}  // namespace taas::comm

#endif  // TRAINER_COMM_CHANNEL_H_
