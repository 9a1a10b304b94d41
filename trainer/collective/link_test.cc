// Every kind of link keeps the promises of link.h.

#include "trainer/collective/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "operator/base/status_matchers.h"
#include "trainer/collective/memory_link.h"
#include "trainer/collective/testing/link_pairs.h"
#include "trainer/comm/shared_area.h"

namespace taas::collective {
namespace {

struct Kind {
  std::string name;
  std::function<LinkPair()> make;
};

class LinkTest : public testing::TestWithParam<Kind> {
 protected:
  LinkTest() : pair_(GetParam().make()) {}

  Link& first() { return *pair_.first; }
  Link& second() { return *pair_.second; }

  LinkPair pair_;
};

INSTANTIATE_TEST_SUITE_P(Links, LinkTest,
                         testing::Values(Kind{"Socket", MakeSocketPair}, Kind{"Tcp", MakeTcpPair},
                                         Kind{"Memory", MakeMemoryPair}),
                         [](const auto& kind) { return kind.param.name; });

void Await(Link& link, Link::Wanted wanted, const std::function<bool()>& moved) {
  pollfd polled = link.Sleep(wanted);
  if (!moved()) poll(&polled, 1, -1);
  link.Wake();
}

std::byte ByteAt(size_t place, unsigned seed) {
  return static_cast<std::byte>((place * 2654435761U + seed) >> 7);
}

// Sends `bytes` and receives as many, in pieces of any size, asleep whenever nothing moves.
void Trade(Link& link, size_t bytes, unsigned sends, unsigned expects) {
  std::mt19937 random(sends);
  std::vector<std::byte> out(100'000), in(100'000);
  size_t sent = 0, received = 0;
  while (sent < bytes || received < bytes) {
    const auto move = [&] {
      size_t moved = 0;
      if (sent < bytes) {
        const size_t most = std::min<size_t>(1 + random() % out.size(), bytes - sent);
        for (size_t i = 0; i < most; ++i) out[i] = ByteAt(sent + i, sends);
        const auto count = link.Send(std::span(out).first(most));
        EXPECT_THAT(count.status(), IsOk());
        sent += count.value_or(bytes);
        moved += count.value_or(1);
      }
      if (received < bytes) {
        const auto count = link.Receive(
            std::span(in).first(std::min<size_t>(1 + random() % in.size(), bytes - received)));
        EXPECT_THAT(count.status(), IsOk());
        for (size_t i = 0; i < count.value_or(0); ++i) {
          if (in[i] != ByteAt(received + i, expects)) {
            ADD_FAILURE() << "byte " << received + i;
            received = bytes;
            return true;
          }
        }
        received += count.value_or(bytes);
        moved += count.value_or(1);
      }
      return moved > 0;
    };
    if (!move()) Await(link, {.send = sent < bytes, .receive = received < bytes}, move);
  }
}

TEST_P(LinkTest, BytesComeInTheirOrderInBothDirectionsAtOnce) {
  constexpr size_t kBytes = 20 << 20;
  std::thread other([&] { Trade(second(), kBytes, 2, 1); });
  Trade(first(), kBytes, 1, 2);
  other.join();
}

TEST_P(LinkTest, ASleeperIsWokenByEachByte) {
  constexpr int kRounds = 2'000;
  std::thread other([&] {
    std::byte byte{};
    for (int i = 0; i < kRounds; ++i) {
      size_t count = 0;
      const auto receive = [&] {
        count = second().Receive({&byte, 1}).value_or(1);
        return count > 0;
      };
      while (!receive()) {
        Await(second(), {.receive = true}, receive);
        if (count > 0) break;
      }
      EXPECT_EQ(second().Send({&byte, 1}).value_or(0), 1U);
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    std::byte byte = static_cast<std::byte>(i);
    ASSERT_EQ(first().Send({&byte, 1}).value_or(0), 1U);
    size_t count = 0;
    const auto receive = [&] {
      count = first().Receive({&byte, 1}).value_or(1);
      return count > 0;
    };
    while (!receive()) {
      Await(first(), {.receive = true}, receive);
      if (count > 0) break;
    }
    ASSERT_EQ(byte, static_cast<std::byte>(i));
  }
  other.join();
}

TEST_P(LinkTest, WhatWasSentBeforeTheEndIsReceivedBeforeIt) {
  const std::byte sent[3] = {std::byte{1}, std::byte{2}, std::byte{3}};
  ASSERT_EQ(second().Send(sent).value_or(0), 3U);
  pair_.second.reset();
  std::byte into[10]{};
  ASSERT_EQ(first().Receive(into).value_or(0), 3U);
  EXPECT_EQ(into[2], std::byte{3});
  absl::Status ended;
  const auto receive = [&] {
    ended = first().Receive(into).status();
    return !ended.ok();
  };
  for (int i = 0; i < 2 && ended.ok(); ++i) Await(first(), {.receive = true}, receive);
  if (ended.ok()) receive();
  EXPECT_EQ(ended.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(ended.message().find("the second"), std::string::npos) << ended;
}

TEST_P(LinkTest, CloseEndsASleepAtBothEnds) {
  std::atomic<int> woken = 0;
  const auto sleep = [&](Link& link) {
    std::byte byte{};
    absl::Status ended;
    const auto receive = [&] {
      ended = link.Receive({&byte, 1}).status();
      return !ended.ok();
    };
    while (ended.ok()) Await(link, {.receive = true}, receive);
    EXPECT_EQ(ended.code(), absl::StatusCode::kUnavailable);
    ++woken;
  };
  std::thread one([&] { sleep(first()); });
  std::thread two([&] { sleep(second()); });
  first().Close();
  one.join();
  two.join();
  EXPECT_EQ(woken, 2);
}

// The other end of a memory link, written by hand.
struct Liar {
  explicit Liar(size_t bytes) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    socket = ends[0];
    std::thread liar([&] {
      area = comm::SharedArea::Make(bytes).value();
      SendDescriptor(ends[1]);
      char byte;
      EXPECT_EQ(recv(ends[1], &byte, 1, 0), 1);
    });
    link = MakeMemoryLink(ends[0], "liar", std::chrono::seconds(10));
    liar.join();
    other = ends[1];
  }
  ~Liar() { close(other); }

  void SendDescriptor(int to) {
    char byte = 0;
    iovec data{&byte, 1};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof(space);
    cmsghdr* const control = CMSG_FIRSTHDR(&message);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(int));
    const int descriptor = area.descriptor();
    std::memcpy(CMSG_DATA(control), &descriptor, sizeof(int));
    EXPECT_EQ(sendmsg(to, &message, 0), 1);
  }

  // The number on the cache line `line` of its area.
  void Say(size_t line, uint64_t number) {
    std::memcpy(area.data() + line * 64, &number, sizeof(number));
  }

  int socket, other;
  comm::SharedArea area;
  absl::StatusOr<std::unique_ptr<Link>> link;
};

constexpr size_t kAreaBytes = 4096 + kQueueBytes;

TEST(MemoryLinkTest, APeerWhoseNumbersCannotBeIsNotBelieved) {
  std::byte bytes[8]{};
  Liar writes(kAreaBytes);
  ASSERT_THAT(writes.link.status(), IsOk());
  writes.Say(0, kQueueBytes + 1);
  EXPECT_EQ((*writes.link)->Receive(bytes).status().code(), absl::StatusCode::kDataLoss);
  Liar takes(kAreaBytes);
  ASSERT_THAT(takes.link.status(), IsOk());
  takes.Say(1, 5);
  EXPECT_EQ((*takes.link)->Send(bytes).status().code(), absl::StatusCode::kDataLoss);
}

TEST(MemoryLinkTest, AnAreaOfAnotherSizeIsRefused) {
  Liar small(4096);
  EXPECT_EQ(small.link.status().code(), absl::StatusCode::kDataLoss) << small.link.status();
}

TEST(MemoryLinkTest, APeerThatSharesNothingIsNotWaitedForForEver) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const auto silent = MakeMemoryLink(ends[0], "nobody", std::chrono::milliseconds(20));
  EXPECT_EQ(silent.status().code(), absl::StatusCode::kUnavailable) << silent.status();
  close(ends[1]);
}

}  // namespace
}  // namespace taas::collective
