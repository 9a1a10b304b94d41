#include "operator/controller/recurring_events.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class RecurringEventsTest : public testing::Test {
 protected:
  void Stand(const std::string& message) {
    events_.Stand({{.cause = "ImagePull", .reason = "ErrImagePull", .message = message}}, wall());
  }
  void Oom() { events_.Happens("OOMKilled", "OOMKilled", "worker-1 ran out of memory", wall()); }
  size_t Told() {
    last_ = events_.Take(now_);
    return last_.size();
  }
  Clock::WallTime wall() const { return Clock::WallTime(now_.time_since_epoch()); }

  RecurringEvents events_;
  Clock::Time now_{std::chrono::hours(1)};
  std::vector<RecurringEvents::Due> last_;
};

// Symptom: that an image could not be pulled was told in the job's message only, where neither
// `kubectl describe` nor tools that watch events look.
TEST_F(RecurringEventsTest, WhatComesToStandInTheWayIsToldAtOnceAndOnce) {
  Stand("worker-0 cannot start: ErrImagePull");
  ASSERT_EQ(Told(), 1u);
  EXPECT_EQ(last_[0].reason, "ErrImagePull");
  EXPECT_EQ(last_[0].times, 1);
  for (int i = 0; i < 100; ++i) {
    now_ += seconds(10);
    Stand("worker-0 cannot start: ErrImagePull");
    EXPECT_EQ(Told(), 0u);
  }
  EXPECT_EQ(events_.NextAfter(now_), minutes(30) - seconds(1000));
}

TEST_F(RecurringEventsTest, WordsThatChangeAreToldNoMoreThanOnceInHalfAMinuteAndMoreRarelyThen) {
  int told = 0;
  std::vector<Clock::Time> times;
  for (int second = 0; second < 3600; ++second) {
    Stand("worker-0 cannot start: " + std::to_string(second));
    if (Told() > 0) {
      ++told;
      times.push_back(now_);
      EXPECT_EQ(last_[0].times, second + 1);
      EXPECT_EQ(last_[0].message, "worker-0 cannot start: " + std::to_string(second));
    }
    now_ += seconds(1);
  }
  EXPECT_LE(told, 12);
  ASSERT_GE(told, 5);
  EXPECT_EQ(times[1] - times[0], seconds(30));
  EXPECT_EQ(times[2] - times[1], seconds(60));
}

TEST_F(RecurringEventsTest, WhatHappenedMeanwhileIsToldTogetherThoughNothingElseDoes) {
  Oom();
  EXPECT_EQ(Told(), 1u);
  now_ += seconds(5);
  Oom();
  Oom();
  EXPECT_EQ(Told(), 0u);
  ASSERT_EQ(events_.NextAfter(now_), seconds(25));
  now_ += seconds(25);
  ASSERT_EQ(Told(), 1u);
  EXPECT_EQ(last_[0].times, 3);
  EXPECT_EQ(last_[0].since, wall() - seconds(30));
  EXPECT_FALSE(events_.NextAfter(now_).has_value());
}

TEST_F(RecurringEventsTest, WhatIsGoneBeforeItWasToldAgainIsNotTold) {
  Stand("a");
  Told();
  Stand("b");
  events_.Stand({}, wall());
  EXPECT_FALSE(events_.NextAfter(now_).has_value());
  now_ += minutes(1);
  EXPECT_EQ(Told(), 0u);
  Stand("c");
  EXPECT_EQ(Told(), 1u);
}

// API servers keep an event for an hour.
TEST_F(RecurringEventsTest, WhatStandsForHoursIsToldAnewAndWhatIsLongOverBeginsAnew) {
  Stand("a");
  Told();
  now_ += minutes(30);
  EXPECT_EQ(Told(), 1u);
  events_.Stand({}, wall());
  now_ += minutes(61);
  Told();
  Stand("a");
  ASSERT_EQ(Told(), 1u);
  EXPECT_EQ(last_[0].times, 1);
}

// A creation is refused at each of its tries, in the same words.
TEST_F(RecurringEventsTest, WhatRepeatsIsNoNewsForHalfAnHourHoweverItIsWorded) {
  int told = 0;
  for (int i = 0; i < 60; ++i) {
    events_.Repeats("Refused", "FailedCreatePod", "request " + std::to_string(i), now_, wall());
    if (Told() == 0) continue;
    ++told;
    EXPECT_EQ(last_[0].times, i + 1);
    EXPECT_EQ(last_[0].message, "request " + std::to_string(i));
  }
  EXPECT_EQ(told, 1);
  now_ += minutes(30);
  events_.Repeats("Refused", "FailedCreatePod", "request 60", now_, wall());
  ASSERT_EQ(Told(), 1u);
  EXPECT_EQ(last_[0].times, 61);
}

TEST_F(RecurringEventsTest, ReasonsWithoutEndAreBounded) {
  for (int i = 0; i < 1000; ++i) {
    events_.Happens("reason-" + std::to_string(i), "R", "m", wall());
  }
  EXPECT_EQ(Told(), 64u);
}

}  // namespace
}  // namespace taas
