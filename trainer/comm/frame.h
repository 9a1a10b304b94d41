// The head of a frame: the fixed 64 bytes before every payload between replicas of a job.
//
// Little-endian, checked by a CRC-32C over the first 60 bytes; the grammar is in README.md beside
// this file. The payload's meaning belongs to the frame's type; it is read only after the head was
// believed.
//
// Ownership: value type. Threads: any. Errors: DataLoss with a sentence (not our protocol, another
// version, damaged, a payload above the limit); the connection is of no use after any of them.
//
//   FrameHead head{.type = FrameType::kPush, .rank = 2, .payload_bytes = bytes};
//   char wire[kFrameHeadBytes];
//   EncodeFrameHead(head, wire);

#ifndef TRAINER_COMM_FRAME_H_
#define TRAINER_COMM_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace taas::comm {

constexpr size_t kFrameHeadBytes = 64;
constexpr uint32_t kFrameMagic = 0x53616154;  // "TaaS" in memory order.
constexpr uint8_t kFrameVersion = 2;
// One shard of a model. A larger number in a head is damage, not data.
constexpr uint64_t kPayloadBytesMax = uint64_t{64} << 30;

enum class FrameType : uint8_t {
  kHello = 8,  // The first frame of every connection: of which job the caller is (greeting.h).
  // Chief → shard, each answered by kState or kValues.
  kConfigure = 1,
  kFence = 2,
  kCut = 3,
  kReadCut = 4,
  kReleaseCut = 5,
  kWaitStep = 6,
  kAsk = 7,
  kNamed = 9,
  // Training replica → shard, each answered by kValues.
  kPull = 16,
  kPush = 17,
  kPushRows = 18,
  // Shard k ↔ shard 0.
  kPeerHello = 32,
  kStaged = 33,
  kCommit = 34,
  kDrop = 35,
  kFenced = 36,
  kCutAt = 37,
  kBank = 38,
  // Rank → rank of a ring (trainer/collective).
  kReduce = 48,
  kMeet = 49,
  // Answers.
  kState = 64,
  kValues = 65,
  kRefused = 66,
  kBusy = 67,  // The answer is still to come.
};

// What a kRefused answer means to the caller; the payload is the sentence.
enum class Refusal : uint32_t {
  kNone = 0,
  kGeneration = 1,  // Another generation is in force: ask the chief.
  kFenced = 2,      // This incarnation was given up, or the chief does not know it.
  kInvalid = 3,     // The request makes no sense here.
  kNotYet = 4,      // What is asked for has not come about in time: try again.
  kJob = 5,         // The caller is of another job or attempt.
};

struct FrameHead {
  FrameType type = FrameType::kAsk;
  uint16_t flags = 0;
  uint32_t generation = 0;
  uint32_t rank = 0;  // Of the training replica, or the index of the shard.
  uint32_t pod = 0;
  uint32_t refusal = 0;
  uint64_t start = 0;
  uint64_t sequence = 0;
  int64_t batch = 0;
  int64_t step = 0;
  uint64_t payload_bytes = 0;

  bool operator==(const FrameHead&) const = default;
};

// VALUES: the push was not applied: its batch was part of the model, or its step had passed.
constexpr uint16_t kFlagDropped = 1;
// VALUES: the push is kept for the step that is being made; the values are as they were and do not
// follow.
constexpr uint16_t kFlagBanked = 2;
// VALUES of shard 0: head.batch is what to compute next.
constexpr uint16_t kFlagBatch = 4;
// PUSH: what is trained comes in bfloat16, moments behind it in float32.
constexpr uint16_t kFlagNarrow = 1;
// VALUES: the shard takes such a PUSH; one of an earlier build does not.
constexpr uint16_t kFlagTakesNarrow = 8;
// COMMIT: another push of the same step follows.
constexpr uint16_t kFlagMore = 8;
// VALUES: the shard takes PUSH_ROWS as well; one of an earlier build does not.
constexpr uint16_t kFlagTakesRows = 32;
// VALUES of shard 0, with a batch: the values may be of different steps from shard to shard, none
// below head.start.
constexpr uint16_t kFlagBounded = 128;
// VALUES, to a PUSH_ROWS only: what follows are the rows that its sender lacks.
constexpr uint16_t kFlagRows = 64;
// Any frame: the payload lies in memory that the sender shares and does not follow. The high byte
// of the flags says in which.
constexpr uint16_t kFlagShared = 16;
constexpr int kSlotShift = 8;
constexpr size_t kSlots = 256;

void EncodeFrameHead(const FrameHead& head, char* out);
absl::StatusOr<FrameHead> DecodeFrameHead(const char* in);

std::string FrameTypeName(FrameType type);

}  // namespace taas::comm

#endif  // TRAINER_COMM_FRAME_H_
