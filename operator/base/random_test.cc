#include "operator/base/random.h"

#include <array>

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(SeededRandomTest, MatchesThePublishedSequenceOfSplitMix64) {
  SeededRandom random(1234567);
  EXPECT_EQ(random.Next(), 6457827717110365317u);
  EXPECT_EQ(random.Next(), 3203168211198807973u);
}

TEST(RandomTest, BelowIsUniformAndInRange) {
  SeededRandom random(1);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60'000; ++i) ++counts.at(random.Below(6));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
}

TEST(RandomTest, UnitStaysBelowOne) {
  SeededRandom random(1);
  for (int i = 0; i < 1'000; ++i) {
    const double value = random.Unit();
    EXPECT_GE(value, 0.0);
    EXPECT_LT(value, 1.0);
  }
}

TEST(SystemRandomTest, TwoDrawsDiffer) {
  SystemRandom random;
  EXPECT_NE(random.Next(), random.Next());
}

}  // namespace
}  // namespace taas
