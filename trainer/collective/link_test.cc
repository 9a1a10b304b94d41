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
  explicit Liar(size_t bytes, uint64_t layout = 3) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    socket = ends[0];
    std::thread liar([&] {
      area = comm::SharedArea::Make(bytes).value();
      Say(0, layout);
      SendDescriptor(ends[1]);
      // It lends nothing, and reads nothing that is lent, which who has refused it does not hear
      // any more.
      const char bytes[2] = {0, 0};
      [[maybe_unused]] const ssize_t sent = send(ends[1], bytes, 2, MSG_NOSIGNAL);
    });
    link = MakeMemoryLink(ends[0], "liar", std::chrono::seconds(10));
    liar.join();
    other = ends[1];
  }
  ~Liar() { close(other); }

  // Lends an area, too, in which the other end lends one of that size.
  static Liar Lending(const comm::SharedArea& theirs) { return Liar(theirs); }

  void SendDescriptor(int to) { SendDescriptor(to, area.descriptor()); }
  static void SendDescriptor(int to, int descriptor) {
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
    std::memcpy(CMSG_DATA(control), &descriptor, sizeof(int));
    EXPECT_EQ(sendmsg(to, &message, 0), 1);
  }

  // The number on the cache line `line` of its area.
  void Say(size_t line, uint64_t number) {
    std::memcpy(area.data() + line * 64, &number, sizeof(number));
  }

  int socket, other;
  comm::SharedArea area, lent;
  absl::StatusOr<std::unique_ptr<Link>> link;

 private:
  explicit Liar(const comm::SharedArea& theirs) : lent(Area(theirs.size())) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    socket = ends[0];
    std::thread liar([&] {
      area = Area(4096 + kQueueBytes);
      Say(0, 3);
      SendDescriptor(ends[1]);
      SendDescriptor(ends[1], lent.descriptor());
      const char reads = 1;
      EXPECT_EQ(send(ends[1], &reads, 1, MSG_NOSIGNAL), 1);
    });
    link = MakeMemoryLink(ends[0], "liar", std::chrono::seconds(10), &theirs);
    liar.join();
    other = ends[1];
  }
};

constexpr size_t kAreaBytes = 4096 + kQueueBytes;

// By cache line.
constexpr size_t kRunsSent = 1, kTaken = 2, kFirstRun = 5;

std::span<std::byte> BytesOf(const comm::SharedArea& area) {
  return std::as_writable_bytes(std::span(area.data(), area.size()));
}

struct Lenders {
  static constexpr size_t kBytes = 4 * kLentBytesMin;

  comm::SharedArea areas[2] = {Area(kBytes), Area(kBytes)};
  LinkPair pair = MakeLendingPair(areas[0], areas[1]);
  std::span<std::byte> lent = BytesOf(areas[0]);
};

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

// Of what it has lent: beyond its end, around the end of all numbers, of nothing; and from any byte
// on, which is no lie.
TEST(MemoryLinkTest, APeerThatLiesAboutWhereInWhatItLentSomethingLiesIsNotBelieved) {
  constexpr uint64_t kLent = uint64_t{1} << 63, kMost = ~uint64_t{0};
  const comm::SharedArea own = Area(Lenders::kBytes);
  const uint64_t size = own.size();
  struct {
    uint64_t at, bytes;
  } const lies[] = {{size - 3, kLent | 4},
                    {size, kLent | 1},
                    {size + 1, kLent | 1},
                    {1, kLent | size},
                    {0, kLent | (size + 1)},
                    {kMost, kLent | 1},
                    {kMost - 7, kLent | 8},
                    {kMost - 7, kLent | 9},
                    {kMost, kMost},
                    {0, kMost},
                    {uint64_t{1} << 62, kLent | (uint64_t{1} << 62)},
                    {8, kLent}};
  std::byte bytes[8]{};
  for (const auto& run : lies) {
    Liar says = Liar::Lending(own);
    ASSERT_THAT(says.link.status(), IsOk());
    std::memcpy(says.area.data() + kFirstRun * 64, &run, sizeof(run));
    says.Say(kRunsSent, 1);
    EXPECT_EQ((*says.link)->Peek().status().code(), absl::StatusCode::kDataLoss)
        << run.at << " " << run.bytes;
    EXPECT_EQ((*says.link)->Receive(bytes).status().code(), absl::StatusCode::kDataLoss);
  }
  struct {
    uint64_t at, bytes;
  } const truths[] = {{1, kLent | 8}, {size - 8, kLent | 8}, {size - 5, kLent | 5}};
  for (const auto& run : truths) {
    Liar says = Liar::Lending(own);
    ASSERT_THAT(says.link.status(), IsOk());
    for (uint64_t i = 0; i < size; ++i) says.lent.data()[i] = static_cast<char>(i % 251);
    std::memcpy(says.area.data() + kFirstRun * 64, &run, sizeof(run));
    says.Say(kRunsSent, 1);
    const size_t count = run.bytes & ~kLent;
    ASSERT_THAT((*says.link)->Receive(bytes), IsOkAndHolds(count));
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(bytes[i], static_cast<std::byte>((run.at + i) % 251));
    }
  }
}

TEST(MemoryLinkTest, APeerWhoseNumbersGoBackIsNotBelieved) {
  const comm::SharedArea own = Area(Lenders::kBytes);
  Liar says = Liar::Lending(own);
  ASSERT_THAT(says.link.status(), IsOk());
  const std::span<std::byte> lent = BytesOf(own);
  ASSERT_THAT((*says.link)->Lend(lent), IsOkAndHolds(lent.size()));
  says.Say(kTaken, 100);
  EXPECT_THAT((*says.link)->Settled(), IsOkAndHolds(false));
  says.Say(kTaken, 99);
  EXPECT_EQ((*says.link)->Settled().status().code(), absl::StatusCode::kDataLoss);
  says.Say(kTaken, lent.size() + 1);
  EXPECT_EQ((*says.link)->Settled().status().code(), absl::StatusCode::kDataLoss);
  std::byte byte{};
  const uint64_t run[] = {0, 1};
  std::memcpy(says.area.data() + kFirstRun * 64, run, sizeof(run));
  says.Say(kRunsSent, 1);
  ASSERT_THAT((*says.link)->Receive({&byte, 1}), IsOkAndHolds(1U));
  says.Say(kRunsSent, 0);
  EXPECT_EQ((*says.link)->Receive({&byte, 1}).status().code(), absl::StatusCode::kDataLoss);
}

// A process may have as many mappings as the kernel lets it.
TEST(MemoryLinkTest, WhatCannotBeMappedIsCopiedAndTheOtherDirectionIsNot) {
  const comm::SharedArea areas[2] = {Area(Lenders::kBytes), Area(Lenders::kBytes)};
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  absl::StatusOr<std::unique_ptr<Link>> full;
  std::thread making([&] {
    full = MakeMemoryLink(ends[1], "y", std::chrono::seconds(10), &areas[1],
                          [](int descriptor, const comm::SharedArea::Readers&)
                              -> absl::StatusOr<comm::SharedArea> {
                            close(descriptor);
                            return absl::ResourceExhaustedError("mmap: Cannot allocate memory");
                          });
  });
  auto link = MakeMemoryLink(ends[0], "x", std::chrono::seconds(10), &areas[0]);
  making.join();
  ASSERT_THAT(link.status(), IsOk());
  ASSERT_THAT(full.status(), IsOk());
  const std::span<std::byte> lent = BytesOf(areas[0]), other = BytesOf(areas[1]);
  lent[5] = std::byte{7};
  ASSERT_THAT((*link)->Lend(lent), IsOkAndHolds(lent.size()));
  EXPECT_THAT((*link)->Settled(), IsOkAndHolds(true)) << "it was copied";
  std::vector<std::byte> into(lent.size());
  ASSERT_THAT((*full)->Receive(into), IsOkAndHolds(into.size()));
  EXPECT_EQ(into[5], std::byte{7});
  ASSERT_THAT((*full)->Lend(other), IsOkAndHolds(other.size()));
  EXPECT_THAT((*full)->Settled(), IsOkAndHolds(false)) << "it is read where it lies";
  ASSERT_THAT((*link)->Receive(into), IsOkAndHolds(into.size()));
  EXPECT_THAT((*full)->Settled(), IsOkAndHolds(true));
}

TEST(MemoryLinkTest, ALayoutOfAnotherProgramIsRefused) {
  Liar other(kAreaBytes, 1);
  EXPECT_EQ(other.link.status().code(), absl::StatusCode::kDataLoss) << other.link.status();
}

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
