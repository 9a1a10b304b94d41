#include "trainer/optimizer/learning_rate.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(LearningRateTest, WithoutDecayItStays) {
  const LearningRate rate{.start = 0.25};
  EXPECT_EQ(rate.At(1), 0.25);
  EXPECT_EQ(rate.At(1'000'000), 0.25);
}

TEST(LearningRateTest, DecaysFromTheFirstStepOn) {
  const LearningRate rate{.start = 0.1, .decay_steps = 10, .decay_rate = 0.25};
  EXPECT_DOUBLE_EQ(rate.At(1), 0.1);
  EXPECT_DOUBLE_EQ(rate.At(6), 0.05);
  EXPECT_DOUBLE_EQ(rate.At(11), 0.025);
}

TEST(LearningRateTest, StaircaseHoldsTheRateForWholePeriods) {
  const LearningRate rate{
      .start = 0.1, .decay_steps = 10, .decay_rate = 0.5, .staircase = true};
  EXPECT_DOUBLE_EQ(rate.At(10), 0.1);
  EXPECT_DOUBLE_EQ(rate.At(11), 0.05);
  EXPECT_DOUBLE_EQ(rate.At(20), 0.05);
  EXPECT_DOUBLE_EQ(rate.At(21), 0.025);
}

}  // namespace
}  // namespace taas
