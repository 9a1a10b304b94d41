#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/crc32c.h"
#include "operator/base/status_matchers.h"
#include "trainer/comm/channel.h"
#include "trainer/comm/frame.h"
#include "trainer/comm/listener.h"
#include "trainer/comm/payload_pages.h"

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

// Two ends of one connection: by TCP, or as two processes of one machine have it.
struct Pair {
  explicit Pair(bool tcp = false) {
    int sockets[2];
    if (!tcp && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) std::abort();
    if (tcp) ConnectByTcp(sockets);
    a = std::make_unique<Channel>(sockets[0], "peer a");
    b = std::make_unique<Channel>(sockets[1], "peer b");
    raw_a = sockets[0];
  }
  static void ConnectByTcp(int* sockets) {
    const auto listening = OpenListeningSocket("127.0.0.1", 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(*PortOfSocket(*listening)));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockets[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(sockets[0], reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      std::abort();
    }
    sockets[1] = accept(*listening, nullptr, nullptr);
    close(*listening);
  }
  std::unique_ptr<Channel> a, b;
  int raw_a;
};

class EachWayTest : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Ways, EachWayTest, testing::Bool(), [](const auto& way) {
  return way.param ? "Tcp" : "OneMachine";
});

TEST_P(EachWayTest, ManyBlocksArriveInOtherBlocks) {
  Pair pair(GetParam());
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

std::vector<float> Send(Channel& from, Channel& to, const std::vector<float>& values) {
  const ConstBlock block{values.data(), values.size() * sizeof(float)};
  std::thread sender([&] { EXPECT_THAT(from.Send(SomeHead(), std::span(&block, 1)), IsOk()); });
  const auto head = to.ReceiveHead();
  EXPECT_THAT(head, IsOk());
  EXPECT_EQ(head->flags, SomeHead().flags);
  std::vector<float> got(head->payload_bytes / sizeof(float));
  const Block into{got.data(), head->payload_bytes};
  EXPECT_THAT(to.ReceiveInto(std::span(&into, 1)), IsOk());
  sender.join();
  return got;
}

// Shared memory is made, used again, left for a payload that is too small or too large for it, and
// replaced when one does not fit.
TEST_P(EachWayTest, PayloadsOfAllSizesArriveBothWays) {
  Pair pair(GetParam());
  for (const size_t bytes : {size_t{0}, kSharedBytesMin, 9 * kSharedBytesMin, kSharedBytesMin + 4,
                             kSharedBytesMin - 4, kSharedBytesMax, kSharedBytesMax + 4, size_t{8},
                             size_t{1} << 20}) {
    std::vector<float> values(bytes / sizeof(float));
    std::iota(values.begin(), values.end(), static_cast<float>(bytes));
    EXPECT_EQ(Send(*pair.a, *pair.b, values), values) << bytes;
    EXPECT_EQ(Send(*pair.b, *pair.a, values), values) << bytes;
  }
}

TEST_P(EachWayTest, PayloadThatIsThrownAwayLeavesTheNextOneWhole) {
  Pair pair(GetParam());
  const std::string text(3 * kSharedBytesMin, 'x');
  ASSERT_THAT(pair.a->Send(SomeHead(), text), IsOk());
  const auto head = pair.b->ReceiveHead();
  ASSERT_THAT(head, IsOk());
  EXPECT_THAT(pair.b->Discard(head->payload_bytes), IsOk());
  EXPECT_EQ(Send(*pair.a, *pair.b, {1, 2, 3}), (std::vector<float>{1, 2, 3}));
}

// A head that says its payload lies in shared memory, with `descriptors` or without.
absl::StatusOr<FrameHead> ReceiveClaim(std::vector<int> descriptors, uint64_t payload_bytes) {
  Pair pair;
  FrameHead head = SomeHead();
  head.flags = kFlagShared;
  head.payload_bytes = payload_bytes;
  char wire[kFrameHeadBytes];
  EncodeFrameHead(head, wire);
  iovec block{wire, sizeof(wire)};
  alignas(cmsghdr) char space[CMSG_SPACE(8 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &block;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    const size_t bytes = descriptors.size() * sizeof(int);
    message.msg_control = space;
    message.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* control = CMSG_FIRSTHDR(&message);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(control), descriptors.data(), bytes);
  }
  EXPECT_EQ(sendmsg(pair.raw_a, &message, 0), static_cast<ssize_t>(sizeof(wire)));
  return pair.b->ReceiveHead();
}

size_t OpenDescriptors() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                           std::filesystem::directory_iterator()));
}

TEST(ChannelTest, SharedMemoryThatIsNotThereOrTooSmallIsDamage) {
  EXPECT_THAT(ReceiveClaim({}, 4),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("shared memory of 0")));
  const auto area = SharedArea::Make(4096);
  ASSERT_THAT(area, IsOk());
  EXPECT_THAT(ReceiveClaim({area->descriptor()}, 4096), IsOk());
  EXPECT_THAT(ReceiveClaim({area->descriptor()}, 4097), StatusIs(absl::StatusCode::kDataLoss));
}

// Whoever has a descriptor could else change what others read as this process's.
TEST(ChannelTest, SharedMemoryIsWrittenByWhoHasMadeItAlone) {
  const auto area = SharedArea::Make(4096);
  ASSERT_THAT(area, IsOk());
  const int fd = area->descriptor();
  const int any = memfd_create("any", MFD_ALLOW_SEALING);
  const bool kernel_seals = fcntl(any, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) == 0;
  close(any);
  if (!kernel_seals) GTEST_SKIP() << "this kernel has no such seal";
  area->data()[0] = 'a';
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  EXPECT_LT(pwrite(fd, "b", 1, 0), 0);
  auto read = SharedArea::Adopt(dup(fd));
  ASSERT_THAT(read, IsOk());
  EXPECT_NE(mprotect(read->data(), 4096, PROT_READ | PROT_WRITE), 0);
  area->data()[0] = 'c';
  EXPECT_EQ(read->data()[0], 'c');
}

// Nobody may use up what this process can open.
TEST(ChannelTest, NoDescriptorIsLeftOpenHoweverManyCome) {
  const auto area = SharedArea::Make(4096);
  ASSERT_THAT(area, IsOk());
  const int fd = area->descriptor();
  const size_t before = OpenDescriptors();
  EXPECT_THAT(ReceiveClaim({fd, fd}, 4096), IsOk());
  EXPECT_THAT(ReceiveClaim({fd, fd, fd, fd, fd}, 4097), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(OpenDescriptors(), before);
}

// Its pages would be taken in the reader's name.
TEST(ChannelTest, SharedMemoryAboveTheLimitIsRefusedThoughItIsEmpty) {
  const int sparse = memfd_create("sparse", MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(sparse, kSharedBytesMax + 4096), 0);
  ASSERT_EQ(fcntl(sparse, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_THAT(ReceiveClaim({sparse}, 4096),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("above the limit")));
  close(sparse);
}

// Its writer could cut it off under the reader, whom the kernel would end with SIGBUS.
TEST(ChannelTest, SharedMemoryThatCanShrinkIsRefused) {
  const int unsealed = memfd_create("unsealed", 0);
  ASSERT_EQ(ftruncate(unsealed, 4096), 0);
  EXPECT_THAT(ReceiveClaim({unsealed}, 4096),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("stays as large")));
  close(unsealed);
}

TEST(ChannelTest, MoreThanThePayloadIsNotReadFromSharedMemory) {
  Pair pair;
  ASSERT_THAT(pair.a->Send(SomeHead(), std::string(2 * kSharedBytesMin, 'x')), IsOk());
  ASSERT_THAT(pair.b->ReceiveHead(), IsOk());
  ASSERT_THAT(pair.a->Send(SomeHead(), std::string(kSharedBytesMin, 'y')), IsOk());
  ASSERT_THAT(pair.b->ReceiveHead(), IsOk());
  EXPECT_THAT(pair.b->ReceiveText(kSharedBytesMin + 1), StatusIs(absl::StatusCode::kDataLoss));
}

std::string ReceiveText(Channel& channel) {
  const auto head = channel.ReceiveHead();
  EXPECT_THAT(head, IsOk());
  return *channel.ReceiveText(head->payload_bytes);
}

// What is sent stays as it is while the peer may read it, and no longer.
TEST_P(EachWayTest, MemoryOfTheCallerIsSentAndKeptUntilThePeerGoesOn) {
  Pair pair(GetParam());
  const auto first = SharedArea::Make(kSharedBytesMin);
  const auto second = SharedArea::Make(kSharedBytesMin);
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  const auto send = [&](const SharedArea& area, char text) {
    std::memset(area.data(), text, area.size());
    auto keep = std::make_shared<int>();
    const std::weak_ptr<int> kept = keep;
    EXPECT_THAT(pair.a->SendShared(SomeHead(), area, area.size(), std::move(keep)), IsOk());
    return kept;
  };
  for (const char text : {'a', 'b', 'c'}) {
    const std::weak_ptr<int> kept = send(text == 'b' ? *second : *first, text);
    // By TCP it was copied.
    EXPECT_EQ(kept.expired(), GetParam());
    EXPECT_EQ(ReceiveText(*pair.b), std::string(kSharedBytesMin, text));
    ASSERT_THAT(pair.b->Send(FrameHead{.type = FrameType::kAsk}), IsOk());
    ASSERT_THAT(pair.a->ReceiveHead(), IsOk());
    EXPECT_TRUE(kept.expired());
  }
  EXPECT_FALSE(!GetParam() && send(*first, 'd').expired());
  pair.a->LetGo();
}

TEST_P(EachWayTest, WhatBothEndsForgotIsSharedAnew) {
  Pair pair(GetParam());
  const auto area = SharedArea::Make(kSharedBytesMin);
  ASSERT_THAT(area, IsOk());
  const std::string text(kSharedBytesMin, 'x');
  for (int i = 0; i < 2; ++i) {
    ASSERT_THAT(pair.a->Send(SomeHead(), text), IsOk());
    EXPECT_EQ(ReceiveText(*pair.b), text);
    std::memset(area->data(), '0' + i, area->size());
    ASSERT_THAT(pair.b->SendShared(SomeHead(), *area, area->size(), nullptr), IsOk());
    EXPECT_EQ(ReceiveText(*pair.a), std::string(kSharedBytesMin, static_cast<char>('0' + i)));
    pair.a->ForgetShared();
    pair.b->ForgetShared();
  }
}

TEST_P(EachWayTest, PagesOfAPayloadThatWasReadGoAndItsPlaceIsReadAgain) {
  Pair pair(GetParam());
  const auto area = SharedArea::Make(2 * kSharedBytesMin);
  ASSERT_THAT(area, IsOk());
  const size_t before = PayloadPages();
  for (const char text : {'a', 'b', 'c'}) {
    std::memset(area->data(), text, area->size());
    ASSERT_THAT(pair.a->SendShared(SomeHead(), *area, area->size(), nullptr), IsOk());
    EXPECT_EQ(ReceiveText(*pair.b), std::string(area->size(), text));
    EXPECT_EQ(PayloadPages(), before + (GetParam() ? 0 : area->size()));
    pair.b->LetPayloadPagesGo();
    EXPECT_EQ(PayloadPages(), before);
  }
}

TEST(ChannelTest, PayloadThatLiesInThePeersMemoryCanBeReadThere) {
  Pair near;
  ASSERT_THAT(near.a->Send(SomeHead(), std::string(kSharedBytesMin, 'x')), IsOk());
  ASSERT_THAT(near.b->ReceiveHead(), IsOk());
  const std::span<const char> there = near.b->PayloadInPlace();
  EXPECT_EQ(std::string(there.begin(), there.end()), std::string(kSharedBytesMin, 'x'));
  ASSERT_THAT(near.a->Send(SomeHead(), "small"), IsOk());
  ASSERT_THAT(near.b->ReceiveHead(), IsOk());
  EXPECT_TRUE(near.b->PayloadInPlace().empty());
}

// No kernel gives up a peer on the same machine that does not read.
TEST(ChannelTest, SenderToAFrozenPeerOfThisMachineIsNotHeldForEver) {
  Pair pair;
  const auto limit = [&] {
    timeval time{};
    socklen_t size = sizeof(time);
    EXPECT_EQ(getsockopt(pair.raw_a, SOL_SOCKET, SO_SNDTIMEO, &time, &size), 0);
    return std::chrono::seconds(time.tv_sec);
  };
  EXPECT_EQ(limit(), kSilenceMax);
  pair.a->LimitSilence(std::chrono::seconds(2));
  EXPECT_EQ(limit(), std::chrono::seconds(2));
  pair.a->LimitSilence(std::chrono::milliseconds(0));
  EXPECT_EQ(limit(), kSilenceMax);
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

TEST_P(EachWayTest, RefusalOfAPeerThatHasGoneIsReceivedAfterASend) {
  Pair pair(GetParam());
  ASSERT_THAT(pair.b->Send({.type = FrameType::kRefused}, "of another job"), IsOk());
  pair.b = nullptr;
  EXPECT_THAT(pair.a->Send(SomeHead(), std::string(kSharedBytesMin, 'x')), IsOk());
  EXPECT_EQ(ReceiveText(*pair.a), "of another job");
  EXPECT_THAT(pair.a->ReceiveHead(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST(ChannelTest, ControlTextAboveTheLimitIsRefusedBeforeItIsRead) {
  Pair pair;
  EXPECT_THAT(pair.b->ReceiveText(kTextBytesMax + 1), StatusIs(absl::StatusCode::kDataLoss));
}

// Symptom: who sent a request and something more and closed was waited for without end.
TEST_P(EachWayTest, PeerThatHasGoneIsNoticedBesideWhatItLeft) {
  Pair pair(GetParam());
  EXPECT_FALSE(pair.b->PeerHasGone());
  ASSERT_THAT(pair.a->Send(SomeHead(), std::string(12, 'x')), IsOk());
  EXPECT_FALSE(pair.b->PeerHasGone());
  pair.a.reset();
  while (!pair.b->PeerHasGone()) std::this_thread::yield();
  EXPECT_TRUE(pair.b->LooksAlive());
  EXPECT_THAT(pair.b->ReceiveHead(), IsOk());
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

TEST(ListenerTest, CallerOfThisMachineComesTheShortWayAndOthersByTcp) {
  auto listener = Listener::Open({.host = "127.0.0.1"}, [](Channel& channel) {
    if (!channel.ReceiveHead().ok()) return;
    EXPECT_THAT(channel.Send({.type = FrameType::kState}, channel.peer()), IsOk());
  });
  ASSERT_THAT(listener, IsOk());
  const auto peer_seen = [](Channel& channel) {
    EXPECT_THAT(channel.Send(FrameHead{.type = FrameType::kAsk}), IsOk());
    const auto head = channel.ReceiveHead();
    return head.ok() ? *channel.ReceiveText(head->payload_bytes) : head.status().ToString();
  };
  const std::string port = std::to_string((*listener)->port());
  const auto near = Channel::Connect("127.0.0.1:" + port, {});
  ASSERT_THAT(near, IsOk());
  EXPECT_EQ(peer_seen(**near), "process " + std::to_string(getpid()) + " of this machine");
  // Who listens on all addresses has no name on this machine.
  const auto everywhere = Listener::Open({}, [](Channel& channel) {
    if (!channel.ReceiveHead().ok()) return;
    EXPECT_THAT(channel.Send({.type = FrameType::kState}, channel.peer()), IsOk());
  });
  ASSERT_THAT(everywhere, IsOk());
  const auto far =
      Channel::Connect("127.0.0.1:" + std::to_string((*everywhere)->port()), {});
  ASSERT_THAT(far, IsOk());
  EXPECT_THAT(peer_seen(**far), HasSubstr("127.0.0.1:"));
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

// Symptom: in a cluster of IPv6 alone no replica reached another, since all listened on IPv4 only.
TEST(ListenerTest, WhoListensOnAllAddressesIsReachedByBothFamilies) {
  const auto listener = Listener::Open({}, [](Channel& channel) {
    if (!channel.ReceiveHead().ok()) return;
    EXPECT_THAT(channel.Send({.type = FrameType::kState}, channel.peer()), IsOk());
  });
  ASSERT_THAT(listener, IsOk());
  // A machine without IPv6 has no socket of it to begin with.
  std::vector<std::string> hosts = {"127.0.0.1"};
  if (const auto six = OpenListeningSocket("::1", 0); six.ok()) {
    close(*six);
    hosts.push_back("[::1]");
  }
  for (const std::string& host : hosts) {
    const auto channel = Channel::Connect(host + ":" + std::to_string((*listener)->port()), {});
    ASSERT_THAT(channel, IsOk()) << host;
    ASSERT_THAT((*channel)->Send(FrameHead{.type = FrameType::kAsk}), IsOk());
    const auto head = (*channel)->ReceiveHead();
    ASSERT_THAT(head, IsOk()) << host;
    EXPECT_THAT(*(*channel)->ReceiveText(head->payload_bytes), testing::StartsWith(host + ":"));
  }
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
