#include "operator/kube/retry_delay.h"

#include <string>

#include "gtest/gtest.h"

namespace taas {
namespace {

using namespace std::chrono_literals;

struct Case {
  const char* name;
  uint32_t failures;
  std::chrono::milliseconds want;
};

class RetryDelayTest : public testing::TestWithParam<Case> {};

TEST_P(RetryDelayTest, DoublesUpToTheLimit) {
  EXPECT_EQ(RetryDelay({}).After(GetParam().failures), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(Table, RetryDelayTest,
                         testing::Values(Case{"FirstFailure", 1, 5ms},
                                         Case{"SecondFailure", 2, 10ms},
                                         Case{"LastBelowLimit", 16, 163'840ms},
                                         Case{"FirstAtLimit", 17, 300'000ms},
                                         Case{"FarBeyondLimit", 4'000'000'000u, 300'000ms}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(RetryDelayJitterTest, StaysBetweenTheDelayAndTwiceIt) {
  const RetryDelay delay({.first = 800ms, .limit = 30'000ms});
  SeededRandom random(7);
  bool differs = false;
  for (int i = 0; i < 200; ++i) {
    const RetryDelay::Duration drawn = delay.After(2, random);
    EXPECT_GE(drawn, 1600ms);
    EXPECT_LE(drawn, 3200ms);
    differs |= drawn != 1600ms;
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace taas
