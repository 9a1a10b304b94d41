#include "trainer/batches/batch_pool.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;

std::vector<int64_t> TakeAll(BatchPool& pool) {
  std::vector<int64_t> all;
  while (const auto batch = pool.Take()) all.push_back(*batch);
  return all;
}

TEST(BatchPoolTest, TakesWhatIsNotPartOfTheModelLowestFirst) {
  BatchPool pool(CommittedSet(3, {4, 6}), 9);
  EXPECT_THAT(TakeAll(pool), ElementsAre(3, 5, 7, 8));
  EXPECT_FALSE(pool.available());
}

TEST(BatchPoolTest, WhatIsReturnedIsTakenFirstAndWhatIsWithdrawnNeverAgain) {
  BatchPool pool({}, 5);
  for (int i = 0; i < 3; ++i) pool.Take();
  pool.Return(2);
  pool.Return(1);
  pool.Return(0);
  pool.Withdraw(1);
  EXPECT_EQ(pool.left(), 4);
  EXPECT_THAT(TakeAll(pool), ElementsAre(0, 2, 3, 4));
}

TEST(BatchPoolTest, WhatSomebodyCommittedWithoutTakingItIsNotTaken) {
  BatchPool pool({}, 4);
  EXPECT_TRUE(pool.Commit(0));
  EXPECT_TRUE(pool.Commit(2));
  EXPECT_FALSE(pool.Commit(2));
  EXPECT_FALSE(pool.Commit(4));
  EXPECT_FALSE(pool.Commit(-1));
  EXPECT_THAT(TakeAll(pool), ElementsAre(1, 3));
  EXPECT_THAT(pool.Take(), Eq(std::nullopt));
}

}  // namespace
}  // namespace taas
