// Frames that a parameter server gets from whoever reaches its port, in any order and of any
// contents: CONFIGURE among them.

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sockios.h>

#include <chrono>
#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "operator/base/check.h"
#include "tools/fuzz/target.h"
#include "trainer/comm/channel.h"
#include "trainer/comm/frame.h"
#include "trainer/proto/shard.pb.h"
#include "trainer/ps/shard.h"

namespace taas::ps {
namespace {

constexpr char kJob[] = "u/1";
// As long as a shard may be at what was sent before it is closed; what waits longer waits for
// somebody else.
constexpr std::chrono::milliseconds kPatience{20};

// The input is frames, each a type, seven numbers of a byte (the last two signed) and a payload
// behind its length. The largest values stand for the edges of their types.
std::string FramesOf(std::string_view input) {
  std::string out;
  for (int frames = 0; frames < 16 && input.size() >= 8; ++frames) {
    const auto byte = [&](size_t at) { return static_cast<uint8_t>(input[at]); };
    const auto wide = [&](size_t at) {
      const int8_t value = static_cast<int8_t>(input[at]);
      return value == INT8_MIN ? INT64_MIN : value == INT8_MAX ? INT64_MAX : int64_t{value};
    };
    const auto parts = FuzzParts(input.substr(8), 2);
    const comm::FrameHead head{.type = static_cast<comm::FrameType>(byte(0)),
                               .flags = static_cast<uint16_t>(byte(1) & ~comm::kFlagShared),
                               .generation = byte(2) == 255 ? UINT32_MAX : byte(2),
                               .rank = byte(3) == 255 ? UINT32_MAX : byte(3),
                               .pod = byte(4),
                               .start = byte(4),
                               .sequence = byte(5),
                               .batch = wide(6),
                               .step = wide(7),
                               .payload_bytes = parts[0].size()};
    char wire[comm::kFrameHeadBytes];
    comm::EncodeFrameHead(head, wire);
    out.append(wire, sizeof(wire)).append(parts[0]);
    input = parts[1];
  }
  return out;
}

std::string Frame(comm::FrameType type, int batch, int step, const std::string& payload) {
  std::string head{static_cast<char>(type), 0, 1, 0, 1, 1, static_cast<char>(batch),
                   static_cast<char>(step)};
  return head + JoinFuzzParts({payload, ""});
}

std::string Configuration() {
  wire::ConfigureRequest request;
  request.set_generation(1);
  request.add_shards("127.0.0.1:1");
  wire::Piece* const piece = request.add_pieces();
  piece->set_count(4);
  request.set_optimizer(R"({"name":"sgd","learningRate":1.0})");
  request.set_max_steps(100);
  const std::string text = request.SerializeAsString();
  const uint64_t size = text.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof(size)) + text +
         std::string(16, '\0');
}

void Serve(const std::string& frames) {
  int sockets[2];
  CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0) << "socketpair";
  Shard shard({.cut_patience = std::chrono::milliseconds(1), .job = kJob});
  std::promise<void> ended;
  std::future<void> end = ended.get_future();
  comm::Channel channel(sockets[1], "peer");
  std::thread server([&] {
    shard.Serve(channel);
    ended.set_value();
  });
  comm::Channel peer(sockets[0], "shard");
  const std::string hello = kJob;
  (void)peer.Send(comm::FrameHead{.type = comm::FrameType::kHello}, hello);
  (void)::send(sockets[0], frames.data(), frames.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(sockets[0], SHUT_WR);
  // Answers are taken, or the shard would wait for room.
  while (end.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    char answer[4096];
    const ssize_t got = ::recv(sockets[0], answer, sizeof(answer), MSG_DONTWAIT);
    if (got > 0) continue;
    if (end.wait_for(kPatience) != std::future_status::ready) break;
  }
  shard.Close();
  peer.Shutdown();
  server.join();
}

}  // namespace
}  // namespace taas::ps

namespace taas {

std::vector<std::string> FuzzSeeds() {
  using comm::FrameType;
  const std::string configure = ps::Frame(FrameType::kConfigure, 0, 0, ps::Configuration());
  const std::string push = ps::Frame(FrameType::kPush, 0, 0, std::string(16, '\1'));
  const std::string cut = ps::Frame(FrameType::kCut, 0, 1, "") +
                          ps::Frame(FrameType::kReadCut, 0, 1, "") +
                          ps::Frame(FrameType::kReleaseCut, 0, 1, "");
  return {configure, configure + push + cut + ps::Frame(FrameType::kAsk, 0, 0, ""),
          configure + ps::Frame(FrameType::kPull, 0, 0, "") +
              ps::Frame(FrameType::kReadCut, 0, -1, ""),
          configure + ps::Frame(FrameType::kWaitStep, 0, 0, "") +
              ps::Frame(FrameType::kFence, 0, 0, "")};
}

}  // namespace taas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  taas::ps::Serve(taas::ps::FramesOf(taas::FuzzText(data, size)));
  return 0;
}
