#include "trainer/comm/frame.h"

#include <cstring>
#include <string_view>

#include "operator/base/crc32c.h"

namespace taas::comm {
namespace {

// Where each field lies in the 64 bytes. Version, type and flags share the word at 4.
constexpr size_t kMagicAt = 0;
constexpr size_t kVersionAt = 4;
constexpr size_t kTypeAt = 5;
constexpr size_t kFlagsAt = 6;
constexpr size_t kGenerationAt = 8;
constexpr size_t kRankAt = 12;
constexpr size_t kPodAt = 14;
constexpr size_t kRefusalAt = 18;
constexpr size_t kStartAt = 20;
constexpr size_t kSequenceAt = 28;
constexpr size_t kBatchAt = 36;
constexpr size_t kStepAt = 44;
constexpr size_t kPayloadAt = 52;
constexpr size_t kCrcAt = 60;

template <typename T>
void Put(char* out, size_t at, T value) {
  std::memcpy(out + at, &value, sizeof(value));
}

template <typename T>
T Get(const char* in, size_t at) {
  T value;
  std::memcpy(&value, in + at, sizeof(value));
  return value;
}

}  // namespace

void EncodeFrameHead(const FrameHead& head, char* out) {
  Put<uint32_t>(out, kMagicAt, kFrameMagic);
  Put<uint8_t>(out, kVersionAt, kFrameVersion);
  Put<uint8_t>(out, kTypeAt, static_cast<uint8_t>(head.type));
  Put<uint16_t>(out, kFlagsAt, head.flags);
  Put<uint32_t>(out, kGenerationAt, head.generation);
  Put<uint16_t>(out, kRankAt, static_cast<uint16_t>(head.rank));
  Put<uint32_t>(out, kPodAt, head.pod);
  Put<uint16_t>(out, kRefusalAt, static_cast<uint16_t>(head.refusal));
  Put<uint64_t>(out, kStartAt, head.start);
  Put<uint64_t>(out, kSequenceAt, head.sequence);
  Put<int64_t>(out, kBatchAt, head.batch);
  Put<int64_t>(out, kStepAt, head.step);
  Put<uint64_t>(out, kPayloadAt, head.payload_bytes);
  Put<uint32_t>(out, kCrcAt, Crc32c(std::string_view(out, kCrcAt)));
}

absl::StatusOr<FrameHead> DecodeFrameHead(const char* in) {
  if (Get<uint32_t>(in, kMagicAt) != kFrameMagic) {
    return absl::DataLossError("read frame: these are not bytes of this protocol");
  }
  if (Get<uint8_t>(in, kVersionAt) != kFrameVersion) {
    return absl::DataLossError("read frame: the peer speaks version " +
                               std::to_string(Get<uint8_t>(in, kVersionAt)) +
                               " of the protocol, this process version " +
                               std::to_string(kFrameVersion));
  }
  if (Get<uint32_t>(in, kCrcAt) != Crc32c(std::string_view(in, kCrcAt))) {
    return absl::DataLossError("read frame: the head's checksum does not match");
  }
  FrameHead head;
  head.type = static_cast<FrameType>(Get<uint8_t>(in, kTypeAt));
  head.flags = Get<uint16_t>(in, kFlagsAt);
  head.generation = Get<uint32_t>(in, kGenerationAt);
  head.rank = Get<uint16_t>(in, kRankAt);
  head.pod = Get<uint32_t>(in, kPodAt);
  head.refusal = Get<uint16_t>(in, kRefusalAt);
  head.start = Get<uint64_t>(in, kStartAt);
  head.sequence = Get<uint64_t>(in, kSequenceAt);
  head.batch = Get<int64_t>(in, kBatchAt);
  head.step = Get<int64_t>(in, kStepAt);
  head.payload_bytes = Get<uint64_t>(in, kPayloadAt);
  if (head.payload_bytes > kPayloadBytesMax) {
    return absl::DataLossError("read frame: a payload of " + std::to_string(head.payload_bytes) +
                               " bytes is above the limit of " + std::to_string(kPayloadBytesMax));
  }
  return head;
}

std::string FrameTypeName(FrameType type) {
  switch (type) {
    case FrameType::kHello: return "HELLO";
    case FrameType::kBank: return "BANK";
    case FrameType::kConfigure: return "CONFIGURE";
    case FrameType::kFence: return "FENCE";
    case FrameType::kCut: return "CUT";
    case FrameType::kReadCut: return "READ_CUT";
    case FrameType::kReleaseCut: return "RELEASE_CUT";
    case FrameType::kWaitStep: return "WAIT_STEP";
    case FrameType::kAsk: return "ASK";
    case FrameType::kNamed: return "NAMED";
    case FrameType::kPull: return "PULL";
    case FrameType::kPush: return "PUSH";
    case FrameType::kPushRows: return "PUSH_ROWS";
    case FrameType::kPeerHello: return "PEER_HELLO";
    case FrameType::kStaged: return "STAGED";
    case FrameType::kCommit: return "COMMIT";
    case FrameType::kDrop: return "DROP";
    case FrameType::kFenced: return "FENCED";
    case FrameType::kCutAt: return "CUT_AT";
    case FrameType::kMeet: return "MEET";
    case FrameType::kReduce: return "REDUCE";
    case FrameType::kState: return "STATE";
    case FrameType::kValues: return "VALUES";
    case FrameType::kRefused: return "REFUSED";
    case FrameType::kBusy: return "BUSY";
  }
  return "type " + std::to_string(static_cast<int>(type));
}

}  // namespace taas::comm
