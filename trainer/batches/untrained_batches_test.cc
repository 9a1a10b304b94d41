#include "trainer/batches/untrained_batches.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using ::testing::ElementsAre;

void TakeTwo(UntrainedBatches& batches) {
  ASSERT_TRUE(batches.Next()->has_value());
  ASSERT_TRUE(batches.Next()->has_value());
}

TEST(UntrainedBatchesTest, GapsOfACheckpointAreFilledFirst) {
  UntrainedBatches batches(CommittedSet(3, {4, 6}));
  TakeTwo(batches);
  EXPECT_THAT(batches.taken(), ElementsAre(3, 5));
  batches.Commit(2);
  TakeTwo(batches);
  EXPECT_THAT(batches.taken(), ElementsAre(7, 8));
  EXPECT_EQ(batches.committed(), CommittedSet(7, {}));
}

TEST(UntrainedBatchesTest, BatchesOfAStepThatFailedAreTakenAgain) {
  UntrainedBatches batches;
  TakeTwo(batches);
  batches.Return(2);
  EXPECT_EQ(batches.committed(), CommittedSet());
  TakeTwo(batches);
  EXPECT_THAT(batches.taken(), ElementsAre(0, 1));
}

TEST(UntrainedBatchesTest, OfStepsMadeAtTheSameTimeTheFirstEndsFirst) {
  UntrainedBatches batches;
  TakeTwo(batches);
  batches.Commit(1);
  EXPECT_THAT(batches.taken(), ElementsAre(1));
  EXPECT_EQ(batches.committed(), CommittedSet(1, {}));
  TakeTwo(batches);
  batches.Return(1);
  EXPECT_THAT(batches.taken(), ElementsAre(1, 2));
  batches.Return(2);
  TakeTwo(batches);
  EXPECT_THAT(batches.taken(), ElementsAre(1, 2));
}

}  // namespace
}  // namespace taas
