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
#include <memory>
#include <random>
#include <span>
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

MATCHER_P(IsOkAndHolds, value, "") { return arg.ok() && *arg == value; }

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

comm::SharedArea Area(size_t bytes) { return comm::SharedArea::Make(bytes).value(); }

// Whose bytes do not lie in it.
LinkPair MakeLendingPairForCopies() {
  static const comm::SharedArea first = Area(100'000), second = Area(100'000);
  return MakeLendingPair(first, second);
}

INSTANTIATE_TEST_SUITE_P(Links, LinkTest,
                         testing::Values(Kind{"Socket", MakeSocketPair}, Kind{"Tcp", MakeTcpPair},
                                         Kind{"Memory", MakeMemoryPair},
                                         Kind{"Lending", MakeLendingPairForCopies}),
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
  explicit Liar(size_t bytes, uint64_t layout = 2) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    socket = ends[0];
    std::thread liar([&] {
      area = comm::SharedArea::Make(bytes).value();
      Say(0, layout);
      SendDescriptor(ends[1]);
      // It lends nothing, which who has refused it does not hear any more.
      const char byte = 0;
      [[maybe_unused]] const ssize_t sent = send(ends[1], &byte, 1, MSG_NOSIGNAL);
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

// By cache line.
constexpr size_t kRunsSent = 1, kTaken = 2, kFirstRun = 5;

TEST(MemoryLinkTest, APeerWhoseNumbersCannotBeIsNotBelieved) {
  std::byte bytes[8]{};
  Liar writes(kAreaBytes);
  ASSERT_THAT(writes.link.status(), IsOk());
  writes.Say(kRunsSent, kRuns + 1);
  EXPECT_EQ((*writes.link)->Receive(bytes).status().code(), absl::StatusCode::kDataLoss);
  Liar takes(kAreaBytes);
  ASSERT_THAT(takes.link.status(), IsOk());
  takes.Say(kTaken, 5);
  EXPECT_EQ((*takes.link)->Send(bytes).status().code(), absl::StatusCode::kDataLoss);
  struct {
    uint64_t at, bytes;
  } const runs[] = {{kQueueBytes - 3, 4}, {kQueueBytes + 1, 1}, {0, 0},
                    {8, ~uint64_t{0} >> 1}, {0, (uint64_t{1} << 63) | 1}};
  for (const auto& run : runs) {
    Liar says(kAreaBytes);
    ASSERT_THAT(says.link.status(), IsOk());
    std::memcpy(says.area.data() + kFirstRun * 64, &run, sizeof(run));
    says.Say(kRunsSent, 1);
    EXPECT_EQ((*says.link)->Receive(bytes).status().code(), absl::StatusCode::kDataLoss)
        << run.at << " " << run.bytes;
  }
}

TEST(MemoryLinkTest, ALayoutOfAnotherProgramIsRefused) {
  Liar other(kAreaBytes, 1);
  EXPECT_EQ(other.link.status().code(), absl::StatusCode::kDataLoss) << other.link.status();
}

std::span<std::byte> BytesOf(const comm::SharedArea& area) {
  return std::as_writable_bytes(std::span(area.data(), area.size()));
}

struct Lenders {
  static constexpr size_t kBytes = 4 * kLentBytesMin;

  comm::SharedArea areas[2] = {Area(kBytes), Area(kBytes)};
  LinkPair pair = MakeLendingPair(areas[0], areas[1]);
  std::span<std::byte> lent = BytesOf(areas[0]);
};

TEST(MemoryLinkTest, WhatIsLentIsReadWhereItLiesAndSettledWhenItWasTaken) {
  Lenders both;
  const auto part = both.lent.subspan(8, kLentBytesMin);
  EXPECT_THAT(both.pair.first->Lend(part), IsOkAndHolds(part.size()));
  EXPECT_THAT(both.pair.first->Settled(), IsOkAndHolds(false));
  part[5] = std::byte{7};
  const auto lies = both.pair.second->Peek();
  ASSERT_THAT(lies.status(), IsOk());
  ASSERT_EQ(lies->size(), part.size());
  EXPECT_EQ((*lies)[5], std::byte{7});
  ASSERT_THAT(both.pair.second->Taken(part.size() - 1), IsOk());
  EXPECT_THAT(both.pair.first->Settled(), IsOkAndHolds(false));
  ASSERT_THAT(both.pair.second->Taken(1), IsOk());
  EXPECT_THAT(both.pair.first->Settled(), IsOkAndHolds(true));
}

TEST(MemoryLinkTest, FewBytesAndThoseOfOtherMemoryAreCopied) {
  Lenders both;
  std::vector<std::byte> elsewhere(kLentBytesMin);
  const std::span<std::byte> few = both.lent.first(kLentBytesMin - 1);
  for (const std::span<std::byte> bytes : {few, std::span(elsewhere)}) {
    bytes[0] = std::byte{1};
    EXPECT_THAT(both.pair.first->Lend(bytes), IsOkAndHolds(bytes.size()));
    EXPECT_THAT(both.pair.first->Settled(), IsOkAndHolds(true));
    bytes[0] = std::byte{2};
    std::vector<std::byte> into(bytes.size());
    EXPECT_THAT(both.pair.second->Receive(into), IsOkAndHolds(bytes.size()));
    EXPECT_EQ(into[0], std::byte{1});
  }
}

// A rank leaves an epoch and writes its gradients anew, while another still reads what it lent.
TEST(MemoryLinkTest, WhatWasReadWhenItWasWithdrawnDoesNotCount) {
  for (const bool closes : {true, false}) {
    Lenders both;
    const std::byte copied[] = {std::byte{3}};
    EXPECT_THAT(both.pair.first->Send(copied), IsOkAndHolds(1U));
    EXPECT_THAT(both.pair.first->Lend(both.lent), IsOkAndHolds(both.lent.size()));
    std::byte byte{};
    EXPECT_THAT(both.pair.second->Receive({&byte, 1}), IsOkAndHolds(1U));
    const auto lies = both.pair.second->Peek();
    ASSERT_THAT(lies.status(), IsOk());
    EXPECT_EQ(lies->size(), both.lent.size());
    if (closes) {
      both.pair.first->Close();
    } else {
      both.pair.first.reset();
    }
    both.lent[0] = std::byte{9};
    EXPECT_EQ(both.pair.second->Taken(1).code(), absl::StatusCode::kUnavailable);
  }
}

TEST(MemoryLinkTest, WhatWasCopiedBeforeAnEndIsTakenAfterIt) {
  Lenders both;
  const std::byte copied[] = {std::byte{3}, std::byte{4}};
  EXPECT_THAT(both.pair.first->Send(copied), IsOkAndHolds(2U));
  both.pair.first->Close();
  std::byte into[2]{};
  EXPECT_THAT(both.pair.second->Receive(into), IsOkAndHolds(2U));
  EXPECT_EQ(into[1], std::byte{4});
}

TEST(MemoryLinkTest, OneThatHasGoneWithoutTakingSettlesNothing) {
  Lenders both;
  EXPECT_THAT(both.pair.first->Lend(both.lent), IsOkAndHolds(both.lent.size()));
  both.pair.second.reset();
  pollfd polled = both.pair.first->Sleep({.send = true});
  poll(&polled, 1, -1);
  both.pair.first->Wake();
  EXPECT_EQ(both.pair.first->Settled().status().code(), absl::StatusCode::kUnavailable);
}

TEST(MemoryLinkTest, WhereOnlyOneLendsAllIsCopied) {
  const comm::SharedArea area = Area(Lenders::kBytes);
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  absl::StatusOr<std::unique_ptr<Link>> other;
  std::thread making([&] { other = MakeMemoryLink(ends[1], "x", std::chrono::seconds(10)); });
  auto link = MakeMemoryLink(ends[0], "y", std::chrono::seconds(10), &area);
  making.join();
  ASSERT_THAT(link.status(), IsOk());
  ASSERT_THAT(other.status(), IsOk());
  EXPECT_THAT((*link)->Lend(BytesOf(area)), IsOkAndHolds(area.size()));
  EXPECT_THAT((*link)->Settled(), IsOkAndHolds(true));
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
