// Ranks as threads of one process, whose vectors lie in areas that they lend each other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "operator/base/status_matchers.h"
#include "trainer/collective/exchange.h"
#include "trainer/collective/group.h"
#include "trainer/collective/memory_link.h"
#include "trainer/collective/plan.h"
#include "trainer/collective/testing/link_pairs.h"
#include "trainer/comm/shared_area.h"

namespace taas::collective {
namespace {

class Ranks {
 public:
  Ranks(int ranks, size_t elements, bool spins = false) : elements_(elements), spins_(spins) {
    for (int rank = 0; rank < ranks; ++rank) {
      areas_.push_back(comm::SharedArea::Make(elements * sizeof(float)).value());
    }
    Meet();
  }

  // An epoch over the same areas.
  void Meet() {
    groups_.clear();
    std::vector<std::vector<std::unique_ptr<Link>>> links(areas_.size());
    for (auto& of_rank : links) of_rank.resize(links.size());
    for (size_t a = 0; a < links.size(); ++a) {
      for (size_t b = a + 1; b < links.size(); ++b) {
        LinkPair pair = MakeLendingPair(areas_[a], areas_[b]);
        links[a][b] = std::move(pair.first);
        links[b][a] = std::move(pair.second);
      }
    }
    const auto ranks = static_cast<int>(links.size());
    for (int rank = 0; rank < ranks; ++rank) {
      groups_.push_back(std::make_unique<Group>(
          Group::Options{.place = {ranks, rank},
                         .links = std::move(links[static_cast<size_t>(rank)]),
                         .spins = spins_}));
    }
  }

  // Each rank on a thread of its own.
  void Each(const std::function<void(int rank)>& work) {
    std::vector<std::thread> threads;
    for (size_t rank = 0; rank < areas_.size(); ++rank) {
      threads.emplace_back([&, rank] { work(static_cast<int>(rank)); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  // Its links end; its area stays.
  void Lose(int rank) { groups_[static_cast<size_t>(rank)].reset(); }
  Group& group(int rank) { return *groups_[static_cast<size_t>(rank)]; }
  std::span<float> values(int rank) {
    return {reinterpret_cast<float*>(areas_[static_cast<size_t>(rank)].data()), elements_};
  }

 private:
  const size_t elements_;
  const bool spins_;
  std::vector<comm::SharedArea> areas_;
  std::vector<std::unique_ptr<Group>> groups_;
};

// Whole numbers, whose sum is exact in any order.
float NumberOf(int rank, size_t element, int64_t step) {
  return static_cast<float>((static_cast<int64_t>(element % 1000) - 500) * (rank + 1) + step);
}

void Fill(std::span<float> values, int rank, int64_t step) {
  for (size_t i = 0; i < values.size(); ++i) values[i] = NumberOf(rank, i, step);
}

bool IsSum(std::span<const float> values, int ranks, int64_t step) {
  for (size_t i = 0; i < values.size(); ++i) {
    float sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += NumberOf(rank, i, step);
    if (values[i] != sum) return false;
  }
  return true;
}

void Spoil(std::span<float> values) {
  std::ranges::fill(values, std::numeric_limits<float>::quiet_NaN());
}

// A rank that has its sum writes the next step's numbers at once, as a backward pass does.
TEST(GroupLentTest, SumsAreExactStepAfterStepWhateverTheWayTheRanksAndTheSize) {
  for (const Way way : {Way::kRing, Way::kStar, Way::kDirect}) {
    for (const int count : {2, 3, 4}) {
      for (const size_t elements : {size_t{1}, size_t{5'003}, size_t{100'003}}) {
        for (const bool spins : {false, true}) {
          SCOPED_TRACE(std::string(NameOf(way)) + ", " + std::to_string(count) + " ranks, " +
                       std::to_string(elements) + " elements");
          Ranks ranks(count, elements, spins);
          ranks.Each([&](int rank) {
            const std::span<float> values = ranks.values(rank);
            Exchange exchange(PlanAllReduce(way, {count, rank}, elements));
            for (int64_t step = 1; step <= 4; ++step) {
              Fill(values, rank, step);
              exchange.Begin({.epoch = 1, .step = step}, values);
              ASSERT_THAT(ranks.group(rank).Run(exchange), IsOk());
              ASSERT_TRUE(IsSum(values, count, step)) << "step " << step;
              Spoil(values);
            }
          });
        }
      }
    }
  }
}

TEST(GroupLentTest, BucketsOfOneAreaGoOneAfterTheOther) {
  constexpr size_t kElements = 200'000, kBucket = 70'001;
  Ranks ranks(3, kElements);
  ranks.Each([&](int rank) {
    const std::span<float> values = ranks.values(rank);
    for (int64_t step = 1; step <= 3; ++step) {
      Fill(values, rank, step);
      for (size_t begin = 0; begin < kElements; begin += kBucket) {
        const auto bucket = values.subspan(begin, std::min(kBucket, kElements - begin));
        Exchange exchange(PlanAllReduce(Way::kRing, {3, rank}, bucket.size()));
        exchange.Begin({.epoch = 1, .step = step, .vector = begin}, bucket);
        ASSERT_THAT(ranks.group(rank).Run(exchange), IsOk());
      }
      ASSERT_TRUE(IsSum(values, 3, step));
    }
  });
}

TEST(GroupLentTest, WhatEachHasComesToAll) {
  constexpr size_t kElements = 140'005;
  const std::vector<size_t> sizes = {70'001, 3, 70'001};
  Ranks ranks(3, kElements);
  ranks.Each([&](int rank) {
    const std::span<float> values = ranks.values(rank);
    const size_t begins[] = {0, 70'001, 70'004};
    for (int64_t step = 1; step <= 3; ++step) {
      Spoil(values);
      const auto own = static_cast<size_t>(rank);
      for (size_t i = 0; i < sizes[own]; ++i) {
        values[begins[own] + i] = NumberOf(0, begins[own] + i, step);
      }
      Exchange exchange(PlanGather({3, rank}, sizes));
      exchange.Begin({.epoch = 1, .step = step}, values);
      ASSERT_THAT(ranks.group(rank).Run(exchange), IsOk());
      ASSERT_TRUE(IsSum(values, 1, step));
    }
  });
}

// A rank leaves at any moment, and writes its gradients the moment its Run has returned, while the
// others may still read them: none of them takes a sum for good that has a number of these in it.
TEST(GroupLentTest, ARankThatLeavesAndWritesAnewIsInNoSumOfTheOthers) {
  constexpr size_t kElements = 100'000;
  constexpr int kRounds = 200;
  Ranks ranks(3, kElements);
  int made = 0, failed = 0;
  for (int round = 0; round < kRounds; ++round) {
    const int leaves = round % 3;
    std::atomic<int> begun = 0;
    std::atomic<int> right = 0, wrong = 0, errors = 0;
    std::thread aborts([&] {
      while (begun < 3) std::this_thread::yield();
      // Another moment each time.
      for (std::atomic<int> turns = 0; turns < 1'000 * (round / 3); ++turns) continue;
      ranks.group(leaves).Abort();
    });
    ranks.Each([&](int rank) {
      const std::span<float> values = ranks.values(rank);
      Fill(values, rank, round);
      Exchange exchange(PlanAllReduce(Way::kRing, {3, rank}, kElements));
      exchange.Begin({.epoch = 1, .step = round}, values);
      ++begun;
      const absl::Status status = ranks.group(rank).Run(exchange);
      if (!status.ok()) {
        ++errors;
      } else {
        ++(IsSum(values, 3, round) ? right : wrong);
      }
      Spoil(values);
    });
    aborts.join();
    ASSERT_EQ(wrong, 0) << "round " << round;
    made += right;
    failed += errors;
    ranks.Meet();
  }
  EXPECT_GT(failed, 0) << "nobody left before the end";
  RecordProperty("made", made);
  RecordProperty("failed", failed);
}

// One is killed: what it had lent stays as it was.
TEST(GroupLentTest, ARankThatGoesEndsTheExchangeOfAllOthers) {
  constexpr size_t kElements = 100'000;
  for (int gone = 0; gone < 4; ++gone) {
    Ranks ranks(4, kElements);
    ranks.Each([&](int rank) {
      if (rank == gone) return ranks.Lose(rank);
      Fill(ranks.values(rank), rank, 1);
      Exchange exchange(PlanAllReduce(Way::kRing, {4, rank}, kElements));
      exchange.Begin({.epoch = 1, .step = 1}, ranks.values(rank));
      const absl::Status status = ranks.group(rank).Run(exchange);
      EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    });
  }
}

}  // namespace
}  // namespace taas::collective
