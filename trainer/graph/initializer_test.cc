#include "trainer/graph/initializer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace taas {
namespace {

std::vector<float> Fill(const Initializer& initializer, std::string_view name, uint64_t seed) {
  std::vector<float> values(10'000);
  FillInitialValues(initializer, name, seed, values);
  return values;
}

double Mean(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value);
  return sum / static_cast<double>(values.size());
}

TEST(InitializerTest, ConstantFills) {
  EXPECT_EQ(Fill(Initializer::Constant(0.5), "w", 1), std::vector<float>(10'000, 0.5f));
}

TEST(InitializerTest, UniformStaysInItsRangeAndCoversIt) {
  const std::vector<float> values = Fill(Initializer::Uniform(-1, 3), "w", 1);
  const auto [low, high] = std::ranges::minmax(values);
  EXPECT_GE(low, -1);
  EXPECT_LT(low, -0.9);
  EXPECT_LE(high, 3);
  EXPECT_GT(high, 2.9);
  EXPECT_NEAR(Mean(values), 1, 0.05);
}

TEST(InitializerTest, TruncatedNormalIsCutAtTwoDeviations) {
  const std::vector<float> values = Fill(Initializer::TruncatedNormal(0.1), "w", 1);
  double squares = 0;
  for (const float value : values) {
    EXPECT_LE(std::abs(value), 0.2001f);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  // The deviation of a normal distribution cut at two is 0.8796 of the whole one's.
  EXPECT_NEAR(std::sqrt(squares / 10'000), 0.08796, 0.002);
  EXPECT_NEAR(Mean(values), 0, 0.003);
}

TEST(InitializerTest, ValuesDependOnNameAndSeedOnly) {
  const Initializer normal = Initializer::TruncatedNormal(1);
  EXPECT_EQ(Fill(normal, "w", 1), Fill(normal, "w", 1));
  EXPECT_NE(Fill(normal, "w", 1), Fill(normal, "v", 1));
  EXPECT_NE(Fill(normal, "w", 1), Fill(normal, "w", 2));
}

}  // namespace
}  // namespace taas
