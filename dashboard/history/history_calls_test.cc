#include "dashboard/history/history_calls.h"

#include <deque>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/sim_executor.h"

namespace taas::dashboard {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class HistoryCallsTest : public testing::Test {
 protected:
  HistoryCalls::Call Numbered(int number) {
    return [this, number](HistoryCalls::Ended ended) {
      begun_.push_back(number);
      ended_.push_back(std::move(ended));
    };
  }
  void RunFor(seconds time) { executor_.RunUntil(executor_.clock().Now() + time); }

  SimExecutor executor_{SimExecutor::Options{.in_order = true}};
  std::vector<int> begun_;
  std::deque<HistoryCalls::Ended> ended_;
};

TEST_F(HistoryCallsTest, SoManyRunAtOnceAndTheRestInTurn) {
  HistoryCalls calls(executor_, {.at_once = 2});
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(calls.Add(Numbered(i)));
  EXPECT_THAT(begun_, SizeIs(0)) << "inside Add";
  RunFor(seconds(1));
  EXPECT_THAT(begun_, ElementsAre(0, 1));
  ended_[0]();
  ended_[0]();
  RunFor(seconds(1));
  EXPECT_THAT(begun_, ElementsAre(0, 1, 2));
}

TEST_F(HistoryCallsTest, ACallThatNeverEndsDoesNotStopTheOthers) {
  HistoryCalls calls(executor_, {.at_once = 1, .timeout = seconds(60)});
  for (int i = 0; i < 2; ++i) calls.Add(Numbered(i));
  RunFor(seconds(59));
  EXPECT_THAT(begun_, ElementsAre(0));
  RunFor(seconds(2));
  EXPECT_THAT(begun_, ElementsAre(0, 1));
  ended_[0]();
  calls.Add(Numbered(2));
  RunFor(seconds(1));
  EXPECT_THAT(begun_, ElementsAre(0, 1)) << "the late end counted for another call";
}

TEST_F(HistoryCallsTest, ManyThatEndAtOnceDoNotNest) {
  HistoryCalls calls(executor_, {.at_once = 1, .waiting_max = 200'000});
  int count = 0;
  for (int i = 0; i < 100'000; ++i) {
    calls.Add([&count](const HistoryCalls::Ended& ended) {
      ++count;
      ended();
    });
  }
  RunFor(seconds(1));
  EXPECT_EQ(count, 100'000);
}

TEST_F(HistoryCallsTest, MoreThanMayWaitAreRefused) {
  HistoryCalls calls(executor_, {.at_once = 1, .waiting_max = 3});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(calls.Add(Numbered(i)));
  EXPECT_FALSE(calls.Add(Numbered(3)));
}

TEST_F(HistoryCallsTest, WhatEndsAfterItHasGoneIsNobodys) {
  {
    HistoryCalls calls(executor_, {.at_once = 1});
    for (int i = 0; i < 2; ++i) calls.Add(Numbered(i));
    RunFor(seconds(1));
  }
  ended_[0]();
  RunFor(seconds(100));
  EXPECT_THAT(begun_, ElementsAre(0));
}

}  // namespace
}  // namespace taas::dashboard
