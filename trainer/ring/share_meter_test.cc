#include "trainer/ring/share_meter.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

using namespace std::chrono_literals;

TEST(ShareMeterTest, SharesAreOfTheWholeTimeOfSeveralSteps) {
  ShareMeter meter;
  const StepTimes early{.compute = 300ms, .wait = 50ms, .exchange = 40ms, .hidden = 100ms,
                        .all = 400ms, .bytes = 1'000};
  EXPECT_FALSE(meter.Add(early));
  EXPECT_FALSE(meter.Add(early));
  const auto shares = meter.Add({.compute = 0ms, .wait = 1'100ms, .exchange = 20ms, .all = 1'200ms,
                                 .bytes = 4'000});
  ASSERT_TRUE(shares.has_value());
  EXPECT_DOUBLE_EQ(shares->compute, 0.3);
  EXPECT_DOUBLE_EQ(shares->wait, 0.6);
  EXPECT_DOUBLE_EQ(shares->exchange, 0.05);
  EXPECT_DOUBLE_EQ(shares->hidden, 0.1);
  EXPECT_EQ(shares->bytes_per_step, 2'000);
  EXPECT_FALSE(meter.Add({.all = 900ms})) << "the next begin anew";
}

TEST(ShareMeterTest, WhatAnEpochBeforeTookDoesNotCount) {
  ShareMeter meter;
  EXPECT_FALSE(meter.Add({.compute = 900ms, .all = 900ms}));
  meter.StartOver();
  EXPECT_FALSE(meter.Add({.wait = 900ms, .all = 900ms}));
  EXPECT_DOUBLE_EQ(meter.Add({.wait = 900ms, .all = 900ms})->wait, 1);
}

}  // namespace
}  // namespace taas
