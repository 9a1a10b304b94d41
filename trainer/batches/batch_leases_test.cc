#include "trainer/batches/batch_leases.h"

#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using ::testing::ElementsAre;

const Pusher kAnn{0, 1, 1};
const Pusher kBob{1, 1, 2};

TEST(BatchLeasesTest, EachBatchIsLentOnceAndTheCursorIsRespected) {
  BatchLeases leases;
  leases.Reset(CommittedSet(3, {4, 6}), 9);
  std::vector<int64_t> all;
  while (leases.available()) {
    for (const int64_t batch : leases.Grant(kAnn, 16, 1)) all.push_back(batch);
  }
  EXPECT_THAT(all, ElementsAre(3, 5, 7, 8));
  EXPECT_TRUE(leases.Grant(kBob, 16, 1).empty());
}

TEST(BatchLeasesTest, LostHoldersUncommittedBatchesAreLentAgainFirst) {
  BatchLeases leases;
  leases.Reset({}, 1000);
  EXPECT_THAT(leases.Grant(kAnn, 3, 2), ElementsAre(0, 1, 2));
  EXPECT_THAT(leases.Grant(kBob, 2, 2), ElementsAre(3, 4));
  EXPECT_EQ(leases.Reclaim(kAnn, CommittedSet(0, {1})), 2u);
  EXPECT_THAT(leases.Grant(kBob, 3, 2), ElementsAre(0, 2, 5));
}

TEST(BatchLeasesTest, GrantsShrinkTowardsTheEnd) {
  BatchLeases leases;
  leases.Reset({}, 40);
  size_t last = 100;
  while (leases.available()) {
    const size_t now = leases.Grant(kAnn, 16, 2).size();
    EXPECT_LE(now, last);
    last = now;
  }
  EXPECT_EQ(last, 1u);
}

TEST(BatchLeasesTest, WhatAHolderFinishedWithoutCommittingIsLentAgainOnceTheCursorShowsIt) {
  BatchLeases leases;
  leases.Reset({}, 1000);
  leases.Grant(kAnn, 3, 1);
  leases.Finish(kAnn);
  const std::set<int64_t> finished = leases.finished();
  EXPECT_THAT(leases.Grant(kAnn, 2, 1), ElementsAre(3, 4));
  leases.Finish(kAnn);
  // Committed says nothing about 3 and 4 yet: it may have been read before they were pushed.
  EXPECT_EQ(leases.Settle(finished, CommittedSet(0, {1})), 2u);
  EXPECT_THAT(leases.Grant(kBob, 3, 1), ElementsAre(0, 2, 5));
  EXPECT_EQ(leases.Settle(leases.finished(), CommittedSet(5, {})), 0u);
  EXPECT_TRUE(leases.finished().empty());
}

TEST(BatchLeasesTest, CommittedLeasesAreForgotten) {
  BatchLeases leases;
  leases.Reset({}, 1000);
  leases.Grant(kAnn, 16, 1);
  leases.Trim(CommittedSet(10, {12}));
  EXPECT_EQ(leases.lent(), 5u);
}

}  // namespace
}  // namespace taas
