// Ranks as threads of one process, connected by sockets.

#include "trainer/collective/group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "operator/base/status_matchers.h"
#include "trainer/collective/testing/link_pairs.h"

namespace taas::collective {
namespace {

enum class By { kSocket, kMemory };

// Between each two of `ranks`; [rank][peer].
using Links = std::vector<std::vector<std::unique_ptr<Link>>>;

Links Connect(int ranks, By by) {
  Links links(static_cast<size_t>(ranks));
  for (auto& of_rank : links) of_rank.resize(links.size());
  for (size_t a = 0; a < links.size(); ++a) {
    for (size_t b = a + 1; b < links.size(); ++b) {
      LinkPair pair = by == By::kMemory ? MakeMemoryPair() : MakeSocketPair();
      links[a][b] = std::move(pair.first);
      links[b][a] = std::move(pair.second);
    }
  }
  return links;
}

// Whole numbers, whose sum is exact in any order.
std::vector<float> NumbersOf(int rank, size_t elements) {
  std::vector<float> numbers(elements);
  for (size_t i = 0; i < elements; ++i) {
    numbers[i] = static_cast<float>((static_cast<int>(i % 1000) - 500) * (rank + 1));
  }
  return numbers;
}

float SumOf(size_t element, int ranks) {
  return static_cast<float>((static_cast<int>(element % 1000) - 500) * ranks * (ranks + 1) / 2);
}

struct Ranks {
  Ranks(int ranks, By by, bool spins = false) {
    Links links = Connect(ranks, by);
    for (int rank = 0; rank < ranks; ++rank) {
      groups.push_back(std::make_unique<Group>(
          Group::Options{.place = {ranks, rank},
                         .links = std::move(links[static_cast<size_t>(rank)]),
                         .spins = spins}));
    }
  }

  // Each rank on a thread of its own.
  void Each(const std::function<void(int rank, Group& group)>& work) {
    std::vector<std::thread> threads;
    for (size_t rank = 0; rank < groups.size(); ++rank) {
      threads.emplace_back([&, rank] { work(static_cast<int>(rank), *groups[rank]); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  std::vector<std::unique_ptr<Group>> groups;
};

absl::Status AllReduce(Group& group, Way way, int64_t step, std::vector<float>* numbers,
                       Wire wire = Wire::kFloat32) {
  Exchange exchange(PlanAllReduce(way, group.place(), numbers->size()), wire);
  exchange.Begin({.epoch = 1, .step = step}, *numbers);
  return group.Run(exchange);
}

TEST(GroupTest, SumsAreExactStepAfterStep) {
  for (const auto& [by, spins] : {std::pair(By::kSocket, false), {By::kSocket, true},
                                  {By::kMemory, false}, {By::kMemory, true}}) {
    for (const Way way : {Way::kRing, Way::kStar, Way::kDirect}) {
      for (const size_t elements : {size_t{1}, size_t{1001}, size_t{300'000}}) {
        Ranks ranks(3, by, spins);
        ranks.Each([&](int rank, Group& group) {
          for (int64_t step = 1; step <= 3; ++step) {
            std::vector<float> numbers = NumbersOf(rank, elements);
            ASSERT_THAT(AllReduce(group, way, step, &numbers), IsOk());
            for (size_t i = 0; i < elements; ++i) ASSERT_EQ(numbers[i], SumOf(i, 3));
          }
        });
      }
    }
  }
}

// Numbers whose sums bfloat16 holds.
TEST(GroupTest, SumsInBFloat16AreExactOverBothTransports) {
  for (const By by : {By::kSocket, By::kMemory}) {
    for (const Way way : {Way::kRing, Way::kStar, Way::kDirect}) {
      for (const size_t elements : {size_t{1}, size_t{1001}, size_t{100'001}}) {
        Ranks ranks(3, by);
        ranks.Each([&](int rank, Group& group) {
          std::vector<float> numbers(elements);
          for (size_t i = 0; i < elements; ++i) {
            numbers[i] = static_cast<float>(i % 40) * static_cast<float>(rank + 1);
          }
          ASSERT_THAT(AllReduce(group, way, 1, &numbers, Wire::kBFloat16), IsOk());
          for (size_t i = 0; i < elements; ++i) {
            ASSERT_EQ(numbers[i], static_cast<float>(i % 40) * 6);
          }
        });
      }
    }
  }
}

// Parts of other sizes, which are passed on.
TEST(GroupTest, WhatEachHasComesToAllOverBothTransports) {
  for (const By by : {By::kSocket, By::kMemory}) {
    const std::vector<size_t> sizes = {70'001, 0, 3};
    Ranks ranks(3, by);
    ranks.Each([&](int rank, Group& group) {
      std::vector<float> all(70'004, -1);
      const size_t begin = rank == 0 ? 0 : 70'001, end = rank == 2 ? 70'004 : 70'001;
      for (size_t i = begin; i < end; ++i) all[i] = static_cast<float>(i);
      Exchange exchange(PlanGather(group.place(), sizes));
      exchange.Begin({.epoch = 1, .step = 1}, all);
      ASSERT_THAT(group.Run(exchange), IsOk());
      for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<float>(i));
    });
  }
}

// A rank that has begun, and goes: nobody waits for it for ever, whether it is a neighbour or not.
TEST(GroupTest, ARankThatGoesEndsTheExchangeOfAllOthers) {
  for (const Way way : {Way::kRing, Way::kStar, Way::kDirect}) {
    for (int gone = 0; gone < 8; ++gone) {
      Ranks ranks(4, gone < 4 ? By::kSocket : By::kMemory);
      ranks.Each([&](int rank, Group& group) {
        std::vector<float> numbers = NumbersOf(rank, 100'000);
        if (rank == gone % 4) {
          ranks.groups[static_cast<size_t>(rank)].reset();
          return;
        }
        const absl::Status status = AllReduce(group, way, 1, &numbers);
        EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
      });
      // Whoever saw it first has lost that one; the others may have lost those who closed then.
      bool known = false;
      for (int rank = 0; rank < 4; ++rank) {
        const auto& group = ranks.groups[static_cast<size_t>(rank)];
        if (group == nullptr) continue;
        ASSERT_TRUE(group->lost().has_value());
        known |= *group->lost() == gone % 4;
      }
      EXPECT_TRUE(known);
    }
  }
}

void ExpectAbortEndsAll(By by) {
  Ranks ranks(3, by);
  std::atomic<int> waiting = 0;
  std::vector<absl::Status> ended(3);
  std::thread aborting([&] {
    while (waiting < 2) std::this_thread::yield();
    ranks.groups[1]->Abort();
  });
  ranks.Each([&](int rank, Group& group) {
    if (rank == 0) return;  // It never begins.
    std::vector<float> numbers = NumbersOf(rank, 100'000);
    ++waiting;
    ended[static_cast<size_t>(rank)] = AllReduce(group, Way::kRing, 1, &numbers);
  });
  aborting.join();
  EXPECT_EQ(ended[1].code(), absl::StatusCode::kAborted);
  EXPECT_EQ(ended[2].code(), absl::StatusCode::kUnavailable) << ended[2];
  EXPECT_EQ(ranks.groups[1]->lost(), std::nullopt);
  EXPECT_TRUE(ranks.groups[2]->lost().has_value());
  std::vector<float> numbers = NumbersOf(1, 10);
  EXPECT_EQ(AllReduce(*ranks.groups[1], Way::kRing, 2, &numbers).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(GroupTest, AbortEndsAWaitAndEveryPeersToo) {
  ExpectAbortEndsAll(By::kSocket);
  ExpectAbortEndsAll(By::kMemory);
}

TEST(GroupTest, WhoDoesNotComeInTimeIsNamedAndLost) {
  for (const By by : {By::kSocket, By::kMemory}) {
    Ranks ranks(3, by);
    std::vector<absl::Status> ended(3);
    ranks.Each([&](int rank, Group& group) {
      if (rank == 1) return;  // It never begins.
      std::vector<float> one{1};
      Exchange exchange(PlanAllReduce(Way::kDirect, group.place(), 1));
      exchange.Begin({.epoch = 1, .step = 1}, one);
      const auto patience = rank == 0 ? std::chrono::milliseconds(100) : std::chrono::hours(1);
      ended[static_cast<size_t>(rank)] = group.RunWithin(exchange, patience);
    });
    EXPECT_THAT(ended[0], StatusIs(absl::StatusCode::kDeadlineExceeded,
                                   testing::HasSubstr(" has not come within 100 ms")));
    EXPECT_EQ(ranks.groups[0]->lost(), 1);
    // Its links are closed then.
    EXPECT_THAT(ended[2], StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_EQ(ranks.groups[2]->lost(), 0);
  }
}

TEST(GroupTest, ForWhomItWaitsTooLongIsToldOnceAndTheWaitGoesOn) {
  Links links = Connect(2, By::kSocket);
  std::atomic<int> told = 0;
  std::string whom;
  Group zero({.place = {2, 0},
              .links = std::move(links[0]),
              .late = std::chrono::milliseconds(10),
              .on_late = [&](const std::string& peer) {
                whom = peer;
                ++told;
              }});
  Group one({.place = {2, 1}, .links = std::move(links[1])});
  for (int64_t step = 1; step <= 2; ++step) {
    std::thread late([&] {
      while (told != step) std::this_thread::yield();
      std::vector<float> numbers{1, 2};
      EXPECT_THAT(AllReduce(one, Way::kRing, step, &numbers), IsOk());
    });
    std::vector<float> numbers{3, 4};
    EXPECT_THAT(AllReduce(zero, Way::kRing, step, &numbers), IsOk());
    late.join();
    EXPECT_EQ(numbers, (std::vector<float>{4, 6}));
    EXPECT_EQ(told, step);
    EXPECT_FALSE(whom.empty());
  }
}

TEST(GroupTest, APauseEndsWhenAPeerGoesWhateverItHasSentBefore) {
  for (const By by : {By::kSocket, By::kMemory}) {
    Ranks ranks(3, by);
    Group& zero = *ranks.groups[0];
    EXPECT_THAT(zero.Pause(std::chrono::microseconds(100)), IsOk());
    std::thread goes([&] {
      // What it sends nobody takes.
      std::vector<float> numbers{1};
      Exchange exchange(PlanAllReduce(Way::kDirect, {3, 2}, 1));
      exchange.Begin({.epoch = 1, .step = 1}, numbers);
      EXPECT_FALSE(ranks.groups[2]->RunWithin(exchange, std::chrono::milliseconds(1)).ok());
    });
    absl::Status ended;
    while (ended.ok()) ended = zero.Pause(std::chrono::hours(1));
    goes.join();
    EXPECT_THAT(ended, StatusIs(absl::StatusCode::kUnavailable,
                                testing::HasSubstr("it has closed the connection")));
    EXPECT_EQ(zero.lost(), 2);
    // The others learn of it.
    EXPECT_THAT(ranks.groups[1]->Pause(std::chrono::hours(1)),
                StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_THAT(zero.Pause(std::chrono::hours(1)),
                StatusIs(absl::StatusCode::kFailedPrecondition));
  }
}

TEST(GroupTest, AnAbortEndsAPause) {
  Ranks ranks(2, By::kMemory);
  std::thread aborting([&] { ranks.groups[0]->Abort(); });
  EXPECT_THAT(ranks.groups[0]->Pause(std::chrono::hours(1)),
              StatusIs(absl::StatusCode::kAborted));
  aborting.join();
  EXPECT_EQ(ranks.groups[0]->lost(), std::nullopt);
  EXPECT_THAT(ranks.groups[1]->Pause(std::chrono::hours(1)),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST(GroupTest, ItTellsForWhomItSleeps) {
  Links links = Connect(2, By::kMemory);
  std::atomic<int> told = -1;
  Group zero({.place = {2, 0},
              .links = std::move(links[0]),
              .on_wait = [&](std::optional<int> rank) {
                if (rank) told = *rank;
              }});
  Group one({.place = {2, 1}, .links = std::move(links[1])});
  std::thread late([&] {
    while (told != 1) std::this_thread::yield();
    std::vector<float> numbers{1, 2};
    EXPECT_THAT(AllReduce(one, Way::kRing, 1, &numbers), IsOk());
  });
  std::vector<float> numbers{3, 4};
  EXPECT_THAT(AllReduce(zero, Way::kRing, 1, &numbers), IsOk());
  late.join();
  EXPECT_EQ(numbers, (std::vector<float>{4, 6}));
}

}  // namespace
}  // namespace taas::collective
