#include "operator/controller/status_pacing.h"

#include <chrono>

#include "gtest/gtest.h"
#include "operator/base/fake_clock.h"

namespace taas {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class StatusPacingTest : public testing::Test {
 protected:
  StatusPacingTest() {
    job_.status.state = JobState::kRunning;
    wanted_ = job_.status;
    clock_.Advance(std::chrono::hours(1));
    writes_ = {.any = true, .last = clock_.Now()};
  }

  std::optional<Clock::Duration> Delay() {
    return StatusDelay(job_, wanted_, {}, &writes_, clock_);
  }

  FakeClock clock_;
  Job job_;
  JobStatus wanted_;
  StatusWrites writes_;
};

TEST_F(StatusPacingTest, WhatStandsThereIsNotWritten) { EXPECT_EQ(Delay(), std::nullopt); }

TEST_F(StatusPacingTest, TheFirstStatusAndADecisionAreWrittenAtOnce) {
  wanted_.ready = "1/2";
  writes_ = {};
  EXPECT_EQ(Delay(), Clock::Duration::zero());
  writes_ = {.any = true, .last = clock_.Now()};
  wanted_.conditions = {{.type = "Running", .status = true}};
  EXPECT_EQ(Delay(), Clock::Duration::zero());
  wanted_ = job_.status;
  wanted_.state = JobState::kRestarting;
  EXPECT_EQ(Delay(), Clock::Duration::zero());
}

// Symptom: of a job whose replicas start together the first one's count was written, and at once
// after it that all of them run.
TEST_F(StatusPacingTest, CountsWaitForThoseThatFollowAtOnce) {
  clock_.Advance(std::chrono::hours(1));
  wanted_.ready = "1/2";
  EXPECT_EQ(Delay(), milliseconds(300));
  clock_.Advance(milliseconds(200));
  wanted_.ready = "2/2";
  EXPECT_EQ(Delay(), milliseconds(100));
}

TEST_F(StatusPacingTest, CountsAreWrittenOnceASecond) {
  clock_.Advance(milliseconds(100));
  wanted_.ready = "1/2";
  EXPECT_EQ(Delay(), milliseconds(900));
}

TEST_F(StatusPacingTest, CountsThatAreAsBeforeBeginNoWait) {
  clock_.Advance(std::chrono::hours(1));
  wanted_.ready = "1/2";
  Delay();
  wanted_ = job_.status;
  EXPECT_EQ(Delay(), std::nullopt);
  clock_.Advance(seconds(5));
  wanted_.ready = "1/2";
  EXPECT_EQ(Delay(), milliseconds(300));
}

TEST_F(StatusPacingTest, ProgressIsWrittenEveryTenSeconds) {
  clock_.Advance(seconds(3));
  wanted_.progress = Progress{.step = 7};
  EXPECT_EQ(Delay(), seconds(7));
}

}  // namespace
}  // namespace taas
