#include "trainer/use/sampling.h"

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Says what it is told to.
class Fixed : public Random {
 public:
  explicit Fixed(double unit) : next_(static_cast<uint64_t>(unit * 0x1.0p53) << 11) {}
  uint64_t Next() override {
    ++taken;
    return next_;
  }
  int taken = 0;

 private:
  const uint64_t next_;
};

int64_t TokenAt(double unit, std::span<const float> logits, const SamplingOptions& options) {
  Fixed random(unit);
  const auto token = SampleToken(logits, options, random);
  EXPECT_THAT(token, IsOk());
  return token.value_or(-1);
}

// How often each comes in `count` draws.
std::map<int64_t, int> Counts(std::span<const float> logits, const SamplingOptions& options,
                              int count) {
  SeededRandom random(7);
  std::map<int64_t, int> counts;
  for (int i = 0; i < count; ++i) ++counts[SampleToken(logits, options, random).value_or(-1)];
  return counts;
}

TEST(SamplingTest, TemperatureZeroIsTheMostLikelyTokenWithoutChance) {
  const std::array<float, 4> logits = {-1, 3, 2, 3};
  for (const double unit : {0.0, 0.5, 0.999}) {
    Fixed random(unit);
    const auto token = SampleToken(logits, {.temperature = 0}, random);
    ASSERT_THAT(token, IsOk());
    EXPECT_EQ(*token, 1) << "of equal ones the first";
    EXPECT_EQ(random.taken, 0);
  }
}

TEST(SamplingTest, AtTemperatureOneATokenComesAsOftenAsTheSoftmaxSays) {
  // Weights 1, 2, 1.
  const std::array<float, 3> logits = {5, 5 + std::log(2.0f), 5};
  EXPECT_EQ(TokenAt(0, logits, {}), 0);
  EXPECT_EQ(TokenAt(0.2499, logits, {}), 0);
  EXPECT_EQ(TokenAt(0.2501, logits, {}), 1);
  EXPECT_EQ(TokenAt(0.7499, logits, {}), 1);
  EXPECT_EQ(TokenAt(0.7501, logits, {}), 2);
  EXPECT_EQ(TokenAt(0.9999, logits, {}), 2);
  const auto counts = Counts(logits, {}, 4000);
  EXPECT_NEAR(counts.at(1), 2000, 150);
}

TEST(SamplingTest, ALowTemperatureMakesLikelyTokensLikelierAndAHighOneLess) {
  // Weights 1 and 4 at 1; 1 and 16 at 0.5; 1 and 2 at 2.
  const std::array<float, 2> logits = {0, std::log(4.0f)};
  EXPECT_EQ(TokenAt(0.199, logits, {.temperature = 1}), 0);
  EXPECT_EQ(TokenAt(0.201, logits, {.temperature = 1}), 1);
  EXPECT_EQ(TokenAt(0.058, logits, {.temperature = 0.5}), 0);
  EXPECT_EQ(TokenAt(0.060, logits, {.temperature = 0.5}), 1);
  EXPECT_EQ(TokenAt(0.333, logits, {.temperature = 2}), 0);
  EXPECT_EQ(TokenAt(0.334, logits, {.temperature = 2}), 1);
  // So low that all weights but one are 0.
  for (const double unit : {0.0, 0.5, 0.999}) {
    EXPECT_EQ(TokenAt(unit, logits, {.temperature = 1e-300}), 1);
  }
}

TEST(SamplingTest, TopKLeavesTheLargestAndOfEqualOnesTheFirst) {
  const std::array<float, 6> logits = {1, 4, 2, 4, 2, 2};
  const auto drawn = [&](int64_t top_k) {
    std::set<int64_t> tokens;
    for (const auto& [token, count] : Counts(logits, {.temperature = 3, .top_k = top_k}, 2000)) {
      tokens.insert(token);
    }
    return tokens;
  };
  EXPECT_THAT(drawn(1), ElementsAre(1));
  EXPECT_THAT(drawn(2), ElementsAre(1, 3));
  EXPECT_THAT(drawn(3), ElementsAre(1, 2, 3)) << "2, 4 and 5 are equal";
  EXPECT_THAT(drawn(4), ElementsAre(1, 2, 3, 4));
  for (const int64_t all : {0, 6, 7, 1'000'000}) {
    EXPECT_THAT(drawn(all), ElementsAre(0, 1, 2, 3, 4, 5)) << all;
  }
}

TEST(SamplingTest, TheSameSeedGivesTheSameTokens) {
  std::vector<float> logits(50);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(i % 7) * 0.3f;
  const auto tokens = [&](uint64_t seed) {
    SeededRandom random(seed);
    std::vector<int64_t> drawn;
    for (int i = 0; i < 40; ++i) {
      drawn.push_back(SampleToken(logits, {.top_k = 30}, random).value_or(-1));
    }
    return drawn;
  };
  EXPECT_EQ(tokens(3), tokens(3));
  EXPECT_NE(tokens(3), tokens(4));
}

TEST(SamplingTest, ALogitThatIsNoNumberIsRefusedAndNamed) {
  for (const float wrong : {std::nanf(""), kInfinity, -kInfinity}) {
    for (const double temperature : {0.0, 1.0}) {
      const std::array<float, 3> logits = {0, 1, wrong};
      SeededRandom random(1);
      EXPECT_THAT(SampleToken(logits, {.temperature = temperature, .top_k = 1}, random).status(),
                  StatusIs(absl::StatusCode::kFailedPrecondition,
                           AllOf(HasSubstr("of token 2 of 3"), HasSubstr("no finite number"))));
    }
  }
}

TEST(SamplingTest, OptionsThatMakeNoSenseAreRefused) {
  const std::array<float, 2> logits = {0, 1};
  SeededRandom random(1);
  EXPECT_THAT(SampleToken(logits, {.temperature = -1}, random).status().message(),
              HasSubstr("temperature: must be a number from 0"));
  EXPECT_THAT(CheckSampling({.temperature = std::nan("")}).message(), HasSubstr("temperature"));
  EXPECT_THAT(CheckSampling({.temperature = kInfinity}).message(), HasSubstr("temperature"));
  EXPECT_THAT(CheckSampling({.top_k = -1}).message(), HasSubstr("top_k"));
}

TEST(SamplingTest, TheLargestRandomNumberIsATokenToo) {
  for (size_t count = 1; count < 300; ++count) {
    std::vector<float> logits(count, 0.1f);
    EXPECT_EQ(TokenAt(1 - 0x1.0p-53, logits, {}), static_cast<int64_t>(count) - 1);
    logits.push_back(-1e30f);  // Without weight.
    EXPECT_EQ(TokenAt(1 - 0x1.0p-53, logits, {}), static_cast<int64_t>(count) - 1);
  }
}

}  // namespace
}  // namespace taas
