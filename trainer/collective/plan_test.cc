#include "trainer/collective/plan.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

namespace taas::collective {
namespace {

TEST(PartTest, PartsFollowOneAnotherAndDifferByAtMostOne) {
  for (const size_t elements : {size_t{0}, size_t{1}, size_t{7}, size_t{8}, size_t{1000}}) {
    for (int ranks = 1; ranks <= 9; ++ranks) {
      size_t at = 0;
      for (int part = 0; part < ranks; ++part) {
        const Part found = PartOf(elements, ranks, part);
        EXPECT_EQ(found.begin, at);
        EXPECT_GE(found.count, elements / static_cast<size_t>(ranks));
        EXPECT_LE(found.count, elements / static_cast<size_t>(ranks) + 1);
        at = found.end();
      }
      EXPECT_EQ(at, elements);
    }
  }
}

size_t Sent(const Plan& plan) {
  size_t elements = 0;
  for (const Sending& sending : plan.sendings) elements += sending.part.count;
  return elements;
}

TEST(PlanTest, WhatARankSendsIsWhatTheHeaderSays) {
  constexpr size_t kElements = 9 * 8 * 7 * 5;
  for (int ranks = 2; ranks <= 9; ++ranks) {
    const auto n = static_cast<size_t>(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(Sent(PlanAllReduce(Way::kRing, {ranks, rank}, kElements)),
                2 * (n - 1) * kElements / n);
      EXPECT_EQ(Sent(PlanAllReduce(Way::kStar, {ranks, rank}, kElements)),
                rank == 0 ? (n - 1) * kElements : kElements);
      EXPECT_EQ(Sent(PlanAllReduce(Way::kDirect, {ranks, rank}, kElements)), (n - 1) * kElements);
    }
  }
}

// What goes from one rank to another is what that one waits for, piece by piece.
TEST(PlanTest, WhatIsSentIsWhatIsReceivedInTheSameOrder) {
  for (const Way way : {Way::kRing, Way::kStar, Way::kDirect}) {
    for (int ranks = 2; ranks <= 9; ++ranks) {
      for (const size_t elements : {size_t{1}, size_t{5}, size_t{1003}}) {
        std::map<std::pair<int, int>, std::vector<Part>> sent, received;
        for (int rank = 0; rank < ranks; ++rank) {
          const Plan plan = PlanAllReduce(way, {ranks, rank}, elements, 10);
          for (const Sending& it : plan.sendings) sent[{rank, it.peer}].push_back(it.part);
          for (const Receiving& it : plan.receptions) received[{it.peer, rank}].push_back(it.part);
          for (const Sending& it : plan.sendings) {
            EXPECT_LE(it.after, plan.receptions.size());
            EXPECT_LE(it.part.count, 10U);
          }
        }
        EXPECT_EQ(sent, received) << NameOf(way) << ", " << ranks << " ranks, " << elements;
      }
    }
  }
}

// Where sums are made before they are spread: of each element once, after all of its additions.
TEST(PlanTest, TheSumOfAllIsMadeOnOneRank) {
  for (const Way way : {Way::kRing, Way::kStar}) {
    for (int ranks = 2; ranks <= 9; ++ranks) {
      constexpr size_t kElements = 101;
      std::vector<int> made(kElements);
      for (int rank = 0; rank < ranks; ++rank) {
        std::vector<int> added(kElements);
        for (const Receiving& it : PlanAllReduce(way, {ranks, rank}, kElements, 10).receptions) {
          for (size_t i = it.part.begin; i < it.part.end(); ++i) {
            if (it.then == Then::kTake) continue;
            ++added[i];
            if (it.then != Then::kAddLast) continue;
            ++made[i];
            EXPECT_EQ(added[i], way == Way::kStar ? ranks - 1 : 1);
          }
        }
      }
      EXPECT_EQ(made, std::vector<int>(kElements, 1)) << NameOf(way) << ", " << ranks;
    }
  }
}

TEST(PlanTest, ARankOfTheRingSpeaksToItsNeighboursOnly) {
  const Plan plan = PlanAllReduce(Way::kRing, {5, 4}, 100, 7);
  for (const Sending& sending : plan.sendings) EXPECT_EQ(sending.peer, 0);
  for (const Receiving& receiving : plan.receptions) EXPECT_EQ(receiving.peer, 3);
}

// Parts of other sizes from rank to rank, some of them empty.
std::vector<size_t> SizesOf(int ranks) {
  std::vector<size_t> sizes;
  for (int rank = 0; rank < ranks; ++rank) {
    sizes.push_back(rank % 3 == 1 ? 0 : static_cast<size_t>(11 * rank + 4));
  }
  return sizes;
}

TEST(PlanTest, WhatIsGatheredIsEachPartOfAnotherRankOnceInOrder) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    const std::vector<size_t> sizes = SizesOf(ranks);
    std::map<std::pair<int, int>, std::vector<Part>> sent, received;
    for (int rank = 0; rank < ranks; ++rank) {
      const Plan plan = PlanGather({ranks, rank}, sizes, 10);
      // What is passed on has come: it is among the receptions that are waited for.
      for (const Sending& it : plan.sendings) {
        EXPECT_LE(it.part.count, 10U);
        sent[{rank, it.peer}].push_back(it.part);
        if (it.after > 0) {
          EXPECT_EQ(plan.receptions[it.after - 1].part, it.part);
        }
      }
      size_t taken = 0;
      for (const Receiving& it : plan.receptions) {
        EXPECT_EQ(it.then, Then::kTake);
        received[{it.peer, rank}].push_back(it.part);
        taken += it.part.count;
      }
      EXPECT_EQ(taken, plan.elements - sizes[static_cast<size_t>(rank)]);
      EXPECT_EQ(Sent(plan), plan.elements - sizes[static_cast<size_t>((rank + 1) % ranks)]);
    }
    EXPECT_EQ(sent, received) << ranks << " ranks";
  }
  EXPECT_TRUE(PlanGather({1, 0}, std::vector<size_t>{7}).sendings.empty());
}

}  // namespace
}  // namespace taas::collective
