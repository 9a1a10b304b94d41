#include "trainer/ring/rank_core.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace taas {
namespace {

constexpr int64_t kMaxSteps = 10;

Epoch Of(int64_t step, std::vector<int> receivers) {
  return {.number = 3,
          .rank = 1,
          .addresses = {"a:1", "b:1"},
          .start = {step, CommittedSet(2 * step, {})},
          .receivers = std::move(receivers)};
}

TEST(RankCoreTest, ItStepsUntilAllAreMade) {
  RankCore core(kMaxSteps);
  core.Begin({});
  core.Join(Of(kMaxSteps - 2, {1}));
  core.Entered();
  for (int64_t step = kMaxSteps - 1; step <= kMaxSteps; ++step) {
    ASSERT_EQ(core.want(), RankWant::kStep);
    const auto turn = core.Take();
    EXPECT_EQ(turn->step, step);
    EXPECT_EQ(turn->batch, 2 * (step - 1) + 1);
    core.Made();
  }
  EXPECT_EQ(core.standing(), (Standing{kMaxSteps, CommittedSet(2 * kMaxSteps, {}), 3}));
  EXPECT_EQ(core.want(), RankWant::kOutlast);
  core.Outlasted();
  core.Join(std::nullopt);
  EXPECT_EQ(core.want(), RankWant::kNothing);
}

TEST(RankCoreTest, AStepThatWasNotMadeChangesNothing) {
  RankCore core(kMaxSteps);
  core.Begin({});
  core.Join(Of(4, {1}));
  core.Entered();
  const Standing before = core.standing();
  const int64_t batch = core.Take()->batch;
  core.NotMade(/*lost=*/0);
  EXPECT_EQ(core.standing(), before);
  EXPECT_EQ(core.lost(), 0);
  ASSERT_EQ(core.want(), RankWant::kEpoch);
  core.Join(Of(4, {}));
  EXPECT_EQ(core.lost(), std::nullopt);
  core.Entered();
  EXPECT_EQ(core.Take()->batch, batch);
}

// A call in which a rank had said where it stood was served seconds later, when it had made another
// step: the next epoch took it to stand there, and did not give it the model that the others had.
TEST(RankCoreTest, AnEpochThatTakesItToStandElsewhereIsNotEntered) {
  RankCore core(kMaxSteps);
  core.Begin({});
  core.Join(Of(4, {1}));
  core.Entered();
  core.Take().IgnoreError();
  core.Made();
  core.Take().IgnoreError();
  core.NotMade(std::nullopt);
  const Standing standing = core.standing();
  for (const std::vector<int>& receivers : {std::vector<int>(), {1}}) {
    core.Join(Of(4, receivers));
    EXPECT_EQ(core.want(), RankWant::kEpoch);
    EXPECT_EQ(core.standing(), standing);
  }
}

// Whoever was one step ahead was lost while it gave, and nobody had a model any more.
TEST(RankCoreTest, WhoLosesAnEpochWhileItIsGivenTheModelHasItsOwn) {
  RankCore core(kMaxSteps);
  core.Begin({});
  core.Join(Of(4, {1}));
  core.Entered();
  core.Take().IgnoreError();
  core.NotMade(std::nullopt);
  const Standing own = core.standing();
  core.Join(Of(5, {1}));
  core.NotEntered(std::nullopt);
  EXPECT_EQ(core.standing(), own);
  EXPECT_EQ(core.want(), RankWant::kEpoch);
}

TEST(RankCoreTest, WhoHadNoModelAndWasGivenNoneLooksForItAgain) {
  RankCore core(kMaxSteps);
  core.Begin({});
  core.Join(Of(5, {1}));
  core.NotEntered(std::nullopt);
  EXPECT_EQ(core.standing(), Standing());
  EXPECT_EQ(core.want(), RankWant::kModel);
}

// A chief that was killed after it had saved the last step waited for ranks that had ended.
TEST(RankCoreTest, WhoBeginsWithTheLastStepNeedsNobody) {
  RankCore core(kMaxSteps);
  core.Begin({.step = kMaxSteps});
  EXPECT_EQ(core.want(), RankWant::kOutlast);
}

}  // namespace
}  // namespace taas
