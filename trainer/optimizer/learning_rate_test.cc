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

// TensorFlow's piecewise_constant holds a rate at its boundary still.
TEST(LearningRateTest, StepsFromOneRateToTheNext) {
  const LearningRate rate{.start = 0.5,
                          .decay = DecayType::kStep,
                          .boundaries = {3, 5},
                          .rates = {0.25, 0.125}};
  EXPECT_EQ(rate.At(4), 0.5);
  EXPECT_EQ(rate.At(5), 0.25);
  EXPECT_EQ(rate.At(6), 0.25);
  EXPECT_EQ(rate.At(7), 0.125);
  EXPECT_EQ(rate.At(1'000'000), 0.125);
}

TEST(LearningRateTest, CosineFallsToItsShareAndStaysThere) {
  const LearningRate rate{
      .start = 2, .decay_steps = 10, .decay = DecayType::kCosine, .alpha = 0.25};
  EXPECT_DOUBLE_EQ(rate.At(1), 2);
  EXPECT_DOUBLE_EQ(rate.At(6), 1.25);
  EXPECT_DOUBLE_EQ(rate.At(11), 0.5);
  EXPECT_DOUBLE_EQ(rate.At(100), 0.5);
}

TEST(LearningRateTest, ScheduleBeginsAfterTheWarmUp) {
  const LearningRate rate{
      .start = 1, .decay_steps = 10, .decay_rate = 0.25, .warmup_steps = 4, .scale = 3};
  EXPECT_EQ(rate.At(1), 0);
  EXPECT_EQ(rate.At(2), 0.75);
  EXPECT_EQ(rate.At(5), 3);
  EXPECT_EQ(rate.At(15), 0.75);
}

}  // namespace
}  // namespace taas
