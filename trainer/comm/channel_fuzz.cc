// What a peer sends by a bulk connection: heads of frames, with right checksums, and payloads.

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/crc32c.h"
#include "tools/fuzz/target.h"
#include "trainer/comm/channel.h"
#include "trainer/comm/frame.h"

namespace taas::comm {
namespace {

// One byte into a frame's payload, none to send: the input is heads and what follows each.
std::string Believable(std::string text) {
  for (size_t at = 0; text.size() - at >= kFrameHeadBytes;) {
    const uint32_t magic = kFrameMagic;
    std::memcpy(text.data() + at, &magic, sizeof(magic));
    text[at + sizeof(magic)] = static_cast<char>(kFrameVersion);
    const size_t checked = kFrameHeadBytes - sizeof(uint32_t);
    const uint32_t crc = Crc32c(std::string_view(text).substr(at, checked));
    std::memcpy(text.data() + at + checked, &crc, sizeof(crc));
    const auto head = DecodeFrameHead(text.data() + at);
    at += kFrameHeadBytes;
    if (!head.ok() || head->payload_bytes > text.size() - at) break;
    at += head->payload_bytes;
  }
  return text;
}

void Receive(const std::string& text) {
  int sockets[2];
  CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0) << "socketpair";
  const ssize_t sent = ::send(sockets[0], text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::close(sockets[0]);
  Channel channel(sockets[1], "peer");
  if (sent <= 0) return;
  while (true) {
    const auto head = channel.ReceiveHead();
    if (!head.ok()) return;
    std::vector<char> some(std::min<uint64_t>(head->payload_bytes, 8));
    const Block block{some.data(), some.size()};
    const bool whole = head->payload_bytes == some.size();
    const absl::Status status = whole ? channel.ReceiveInto(std::span(&block, 1))
                                : head->rank % 2 == 0
                                    ? channel.ReceiveText(head->payload_bytes).status()
                                    : channel.Discard(head->payload_bytes);
    (void)channel.PayloadInPlace();
    if (!status.ok()) return;
  }
}

}  // namespace
}  // namespace taas::comm

namespace taas {

std::vector<std::string> FuzzSeeds() {
  std::vector<std::string> seeds;
  std::string all;
  for (const comm::FrameHead& head :
       {comm::FrameHead{.type = comm::FrameType::kHello, .payload_bytes = 3},
        comm::FrameHead{.type = comm::FrameType::kPush, .rank = 1, .batch = 7, .payload_bytes = 20},
        comm::FrameHead{.type = comm::FrameType::kAsk, .flags = comm::kFlagShared}}) {
    std::string text(comm::kFrameHeadBytes, '\0');
    comm::EncodeFrameHead(head, text.data());
    text.append(head.payload_bytes, 'p');
    all += text;
    seeds.push_back(text);
  }
  seeds.push_back(all);
  return seeds;
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(taas::FuzzText(data, size));
  if (size >= taas::comm::kFrameHeadBytes) (void)taas::comm::DecodeFrameHead(text.data());
  taas::comm::Receive(taas::comm::Believable(text));
  (void)taas::comm::SplitAddress(text);
  return 0;
}
