#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <numeric>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/comm/channel.h"
#include "trainer/comm/frame.h"
#include "trainer/comm/listener.h"
#include "trainer/formats/crc32c.h"

namespace taas::comm {
namespace {

using ::testing::HasSubstr;

FrameHead SomeHead() {
  return {.type = FrameType::kPush,
          .flags = kFlagDropped,
          .generation = 7,
          .rank = 3,
          .pod = 70'000,
          .refusal = 2,
          .start = 0x9f86d081884c7d65,
          .sequence = 41,
          .batch = 1999,
          .step = -1,
          .payload_bytes = 12};
}

TEST(FrameTest, HeadComesBackAsItWas) {
  char wire[kFrameHeadBytes];
  EncodeFrameHead(SomeHead(), wire);
  const auto head = DecodeFrameHead(wire);
  ASSERT_THAT(head, IsOk());
  EXPECT_EQ(*head, SomeHead());
}

TEST(FrameTest, EveryDamagedBitOfAHeadIsNoticed) {
  char wire[kFrameHeadBytes];
  EncodeFrameHead(SomeHead(), wire);
  for (size_t bit = 0; bit < 8 * kFrameHeadBytes; ++bit) {
    wire[bit / 8] ^= static_cast<char>(1 << (bit % 8));
    EXPECT_THAT(DecodeFrameHead(wire), StatusIs(absl::StatusCode::kDataLoss)) << bit;
    wire[bit / 8] ^= static_cast<char>(1 << (bit % 8));
  }
}

TEST(FrameTest, PayloadAboveTheLimitIsRefused) {
  FrameHead head = SomeHead();
  head.payload_bytes = kPayloadBytesMax + 1;
  char wire[kFrameHeadBytes];
  EncodeFrameHead(head, wire);
  EXPECT_THAT(DecodeFrameHead(wire),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("above the limit")));
}

TEST(FrameTest, TextOfAnotherProtocolIsCalledThat) {
  char wire[kFrameHeadBytes] = "GET /status HTTP/1.1\r\nHost: somewhere\r\n";
  EXPECT_THAT(DecodeFrameHead(wire),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("not bytes of this protocol")));
}

struct Pair {
  Pair() {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) std::abort();
    a = std::make_unique<Channel>(sockets[0], "peer a");
    b = std::make_unique<Channel>(sockets[1], "peer b");
    raw_a = sockets[0];
  }
  std::unique_ptr<Channel> a, b;
  int raw_a;
};

TEST(ChannelTest, ManyBlocksArriveInOtherBlocks) {
  Pair pair;
  std::vector<float> out(1'000'003);
  std::iota(out.begin(), out.end(), 0.0f);
  std::thread sender([&] {
    // More blocks than one system call takes, of uneven sizes.
    std::vector<ConstBlock> blocks;
    size_t at = 0;
    for (size_t size = 1; at < out.size(); size += 97) {
      const size_t count = std::min(size, out.size() - at);
      blocks.push_back({&out[at], count * sizeof(float)});
      at += count;
    }
    EXPECT_THAT(pair.a->Send(SomeHead(), blocks), IsOk());
  });
  const auto head = pair.b->ReceiveHead();
  ASSERT_THAT(head, IsOk());
  ASSERT_EQ(head->payload_bytes, out.size() * sizeof(float));
  std::vector<float> in(out.size());
  const Block into[] = {{in.data(), 4}, {&in[1], 0}, {&in[1], (in.size() - 1) * 4}};
  EXPECT_THAT(pair.b->ReceiveInto(into), IsOk());
  sender.join();
  EXPECT_EQ(in, out);
}

TEST(ChannelTest, HeadThatArrivesByteByByteIsRead) {
  Pair pair;
  char wire[kFrameHeadBytes];
  FrameHead head = SomeHead();
  EncodeFrameHead(head, wire);
  std::thread sender([&] {
    for (const char byte : wire) EXPECT_EQ(write(pair.raw_a, &byte, 1), 1);
  });
  const auto got = pair.b->ReceiveHead();
  sender.join();
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(*got, head);
}

TEST(ChannelTest, PeerThatClosesInTheMiddleOfAHeadIsNamed) {
  Pair pair;
  ASSERT_EQ(write(pair.raw_a, "TaaS", 4), 4);
  pair.a->Shutdown();
  EXPECT_THAT(pair.b->ReceiveHead(),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("peer b: the peer closed")));
  EXPECT_FALSE(pair.b->LooksAlive());
}

TEST(ChannelTest, ControlTextAboveTheLimitIsRefusedBeforeItIsRead) {
  Pair pair;
  EXPECT_THAT(pair.b->ReceiveText(kTextBytesMax + 1), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(ChannelTest, SendAtOnceFailsInsteadOfWaiting) {
  Pair pair;
  absl::Status status;
  for (int i = 0; i < 1'000'000 && status.ok(); ++i) status = pair.a->SendAtOnce(SomeHead());
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
}

TEST(ListenerTest, EachConnectionIsServedAndDestructionEndsThem) {
  auto listener = Listener::Open({.host = "127.0.0.1"}, [](Channel& channel) {
    for (;;) {
      const auto head = channel.ReceiveHead();
      if (!head.ok() || !channel.Send(*head).ok()) return;
    }
  });
  ASSERT_THAT(listener, IsOk());
  const std::string address = "127.0.0.1:" + std::to_string((*listener)->port());
  std::vector<std::unique_ptr<Channel>> channels;
  for (uint64_t i = 0; i < 4; ++i) {
    auto channel = Channel::Connect(address, {});
    ASSERT_THAT(channel, IsOk());
    ASSERT_THAT((*channel)->Send({.type = FrameType::kAsk, .sequence = i}), IsOk());
    channels.push_back(*std::move(channel));
  }
  for (uint64_t i = 0; i < 4; ++i) {
    const auto head = channels[i]->ReceiveHead();
    ASSERT_THAT(head, IsOk());
    EXPECT_EQ(head->sequence, i);
  }
  listener->reset();
  EXPECT_THAT(channels[0]->ReceiveHead(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(Channel::Connect(address, {}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("refused")));
}

// Without descriptors nobody can be accepted; whoever called meanwhile is served once there are
// some.
TEST(ListenerTest, ConnectionThatComesWhileNoDescriptorIsFreeIsServedLater) {
  auto listener = Listener::Open({.host = "127.0.0.1"}, [](Channel& channel) {
    const auto head = channel.ReceiveHead();
    if (head.ok()) {
      EXPECT_THAT(channel.Send(*head), IsOk());
    }
  });
  ASSERT_THAT(listener, IsOk());
  // The accept that is under way has its descriptor already and serves the first caller.
  const int callers[] = {socket(AF_INET, SOCK_STREAM, 0), socket(AF_INET, SOCK_STREAM, 0)};
  Channel first(callers[0], "listener");
  Channel second(callers[1], "listener");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>((*listener)->port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int failed = 0;
  for (const int caller : callers) {
    failed += connect(caller, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  second.LimitSilence(std::chrono::milliseconds(150));
  const absl::Status sent = second.Send({.type = FrameType::kAsk, .sequence = 2});
  const auto unanswered = second.ReceiveHead();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(failed, 0);
  EXPECT_THAT(sent, IsOk());
  EXPECT_THAT(unanswered,
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("no byte for 150 ms")));
  second.LimitSilence(std::chrono::seconds(10));
  const auto answer = second.ReceiveHead();
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->sequence, 2u);
}

TEST(ListenerTest, PortInUseIsNamed) {
  auto first = Listener::Open({.host = "127.0.0.1"}, [](Channel&) {});
  ASSERT_THAT(first, IsOk());
  const auto second =
      Listener::Open({.host = "127.0.0.1", .port = (*first)->port()}, [](Channel&) {});
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr(std::to_string((*first)->port()))));
}

TEST(SplitAddressTest, FormsThatAreNoAddressAreRefused) {
  for (const char* bad : {"", "host", ":1", "host:", "host:x", "host:65536", "host:123456"}) {
    EXPECT_THAT(SplitAddress(bad), StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
  }
  EXPECT_EQ(SplitAddress("[::1]:22")->first, "::1");
}

}  // namespace
}  // namespace taas::comm
