#include "trainer/cut/save_policy.h"

#include <chrono>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fake_clock.h"
#include "operator/base/status_matchers.h"
#include "trainer/retry/try_on.h"

namespace taas {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class SavePolicyTest : public testing::Test {
 protected:
  FakeClock clock_;
  StatusBoard board_{{}};
  SavePolicy policy_{clock_, board_, {.steps = 5, .seconds = seconds(60)}};
};

TEST_F(SavePolicyTest, BySteps) {
  policy_.Start(0, /*saved=*/false);
  EXPECT_FALSE(policy_.Due(4));
  EXPECT_TRUE(policy_.Due(5));
  EXPECT_TRUE(policy_.Due(6)) << "until one is begun";
  policy_.Begin(6);
  EXPECT_FALSE(policy_.Due(9));
  EXPECT_TRUE(policy_.Due(10));
  EXPECT_TRUE(policy_.Due(27)) << "where several steps are seen at once";
}

TEST_F(SavePolicyTest, BehindACheckpointTheNextMultipleIsDue) {
  policy_.Start(17, /*saved=*/true);
  EXPECT_TRUE(policy_.is_saved(17));
  EXPECT_FALSE(policy_.Due(19));
  EXPECT_TRUE(policy_.Due(20));
  EXPECT_EQ(policy_.NextDue(17, 100), 20);
  EXPECT_EQ(policy_.NextDue(20, 100), 25);
  EXPECT_EQ(policy_.NextDue(17, 18), 18);
}

TEST_F(SavePolicyTest, ByTimeSinceTheLastWasBegun) {
  policy_.Start(0, /*saved=*/false);
  clock_.Advance(seconds(59));
  EXPECT_FALSE(policy_.Due(3));
  clock_.Advance(seconds(1));
  EXPECT_TRUE(policy_.Due(3));
  policy_.Begin(3);
  EXPECT_FALSE(policy_.Due(3));
}

TEST_F(SavePolicyTest, ByTimeAloneIfThereAreNoSteps) {
  SavePolicy policy(clock_, board_, {.steps = 0, .seconds = seconds(60)});
  policy.Start(0, /*saved=*/false);
  EXPECT_FALSE(policy.Due(1'000'000));
  EXPECT_EQ(policy.NextDue(7, 1'000), 1'000);
}

TEST_F(SavePolicyTest, ADiskThatIsAwayIsToldAndTriedAgain) {
  policy_.Start(0, /*saved=*/false);
  board_.SetState(RunState::kTraining);
  policy_.Begin(5);
  EXPECT_FALSE(policy_.DueAgain());
  EXPECT_THAT(policy_.GoOn(absl::UnavailableError("no space"), 5), IsOk());
  EXPECT_THAT(board_.snapshot().message, HasSubstr("training on: no space"));
  EXPECT_FALSE(policy_.DueAgain());
  clock_.Advance(kTryAgain);
  EXPECT_TRUE(policy_.DueAgain());
  // What works besides, such as saying that the job lives, is not the save.
  EXPECT_THAT(policy_.GoOn(absl::OkStatus(), 5), IsOk());
  EXPECT_TRUE(policy_.DueAgain());
  policy_.Saved(5, /*beside_training=*/true);
  EXPECT_FALSE(policy_.DueAgain());
  EXPECT_EQ(board_.snapshot().message, "");
}

TEST_F(SavePolicyTest, WhatDoesNotPassEndsTheTraining) {
  policy_.Start(0, /*saved=*/false);
  EXPECT_THAT(policy_.GoOn(absl::AbortedError("another job's directory"), 5),
              StatusIs(absl::StatusCode::kAborted));
  clock_.Advance(kTryAgain);
  EXPECT_FALSE(policy_.DueAgain());
}

}  // namespace
}  // namespace taas
