#include "trainer/cuda/stragglers.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Stage = RankPosition::Stage;
using std::chrono::seconds;

constexpr RankPosition kBegun{.round = 3, .stage = Stage::kBegun};
constexpr RankPosition kWaits{.round = 3, .stage = Stage::kWaits};
constexpr RankPosition kPassed{.round = 3, .stage = Stage::kPassed};
constexpr RankPosition kEnded{.round = 3, .stage = Stage::kEnded};
constexpr RankPosition kNext{.round = 4, .stage = Stage::kBegun};

class StragglersTest : public testing::Test {
 protected:
  // Whether some are found, who then are those of `found_`.
  bool Finds(const std::vector<RankPosition>& seen, int second) {
    const auto found = stragglers_->Look(seen, Clock::Time(seconds(second)));
    if (found) found_ = *found;
    return found.has_value();
  }
  void StartAnew() { stragglers_.emplace(3, seconds(60)); }

  std::optional<Stragglers> stragglers_{std::in_place, 3, seconds(60)};
  Stragglers::Found found_;
};

TEST_F(StragglersTest, WhoIsBehindForLongIsFoundWhereverItIs) {
  struct Case {
    RankPosition behind, ahead;
  };
  for (const auto& [behind, ahead] : {Case{kBegun, kWaits}, Case{kWaits, kPassed},
                                      Case{kPassed, kEnded}, Case{kEnded, kNext}}) {
    StartAnew();
    EXPECT_FALSE(Finds({ahead, behind, ahead}, 0));
    EXPECT_FALSE(Finds({ahead, behind, ahead}, 60));
    ASSERT_TRUE(Finds({ahead, behind, ahead}, 61));
    EXPECT_THAT(found_.behind, ElementsAre(1));
    EXPECT_THAT(found_.ahead, ElementsAre(0, 2));
    EXPECT_EQ(found_.stage, behind.stage);
  }
}

TEST_F(StragglersTest, ThoseFurthestBehindAreBlamed) {
  EXPECT_FALSE(Finds({kWaits, kBegun, kPassed}, 0));
  ASSERT_TRUE(Finds({kWaits, kBegun, kPassed}, 70));
  EXPECT_THAT(found_.behind, ElementsAre(1));
  EXPECT_THAT(found_.ahead, ElementsAre(0, 2));
}

TEST_F(StragglersTest, AMeanThatEndsForNobodyIsNobodysFault) {
  EXPECT_FALSE(Finds({kWaits, kWaits, kWaits}, 0));
  ASSERT_TRUE(Finds({kWaits, kWaits, kWaits}, 61));
  EXPECT_THAT(found_.behind, IsEmpty());
  EXPECT_THAT(found_.ahead, ElementsAre(0, 1, 2));
  EXPECT_EQ(found_.stage, Stage::kWaits);
}

TEST_F(StragglersTest, WhatAllDoTakesItsTime) {
  for (const RankPosition& all : {kEnded, kNext}) {
    EXPECT_FALSE(Finds({all, all, all}, 0));
    EXPECT_FALSE(Finds({all, all, all}, 1'000)) << "between two steps, or a long one";
  }
  // And one that then is behind has all of its time.
  EXPECT_FALSE(Finds({kNext, kNext, {4, Stage::kWaits}}, 1'001));
  EXPECT_FALSE(Finds({kNext, kNext, {4, Stage::kWaits}}, 1'060));
  EXPECT_TRUE(Finds({kNext, kNext, {4, Stage::kWaits}}, 1'062));
}

TEST_F(StragglersTest, WhoGoesOnIsNoStraggler) {
  for (int64_t round = 1; round < 300; ++round) {
    const RankPosition ahead{round, Stage::kWaits}, behind{round, Stage::kBegun};
    EXPECT_FALSE(Finds({ahead, behind, ahead}, static_cast<int>(round)));
  }
}

}  // namespace
}  // namespace taas::cuda
