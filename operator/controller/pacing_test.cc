#include "operator/controller/pacing.h"

#include <chrono>

#include "gtest/gtest.h"
#include "operator/base/fake_clock.h"

namespace taas {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class PacingTest : public testing::Test {
 protected:
  PacingTest() {
    job_.status.state = JobState::kRunning;
    job_.status.conditions = {{.type = "Created", .status = true},
                              {.type = "Scheduled", .status = true},
                              {.type = "Running", .status = true}};
    wanted_ = job_.status;
    clock_.Advance(std::chrono::hours(1));
    writes_ = {.any = true, .last = clock_.Now()};
  }

  std::optional<StatusTurn> Turn() {
    return TurnOfStatus(job_, wanted_, {}, {.clock = clock_, .launching = launching_}, &writes_);
  }
  std::optional<Clock::Duration> Delay() {
    const auto turn = Turn();
    return turn.has_value() ? std::optional(turn->delay) : std::nullopt;
  }
  bool IsDecision() {
    const auto turn = Turn();
    return turn.has_value() && turn->decision && turn->delay == Clock::Duration::zero();
  }

  FakeClock clock_;
  Job job_;
  JobStatus wanted_;
  StatusWrites writes_;
  bool launching_ = false;
};

TEST_F(PacingTest, WhatStandsThereIsNotWritten) { EXPECT_EQ(Delay(), std::nullopt); }

// Symptom: of 200 jobs that were made at once the last was told to run 17 s after it did.
TEST_F(PacingTest, DecisionsAreWrittenAtOnceHoweverMuchThereIsToDo) {
  launching_ = true;
  wanted_.conditions.push_back({.type = "Restarting", .status = true});
  EXPECT_TRUE(IsDecision());
  wanted_ = job_.status;
  wanted_.conditions[2].status = false;
  EXPECT_TRUE(IsDecision());
  wanted_ = job_.status;
  wanted_.state = JobState::kRestarting;
  EXPECT_TRUE(IsDecision());
  wanted_ = job_.status;
  wanted_.restarts[RestartCause::kKilled] = 1;
  EXPECT_TRUE(IsDecision());
  wanted_ = job_.status;
  wanted_.completion_time = Clock::WallTime{};
  EXPECT_TRUE(IsDecision());
  job_.status = {};  // Nothing was said of it yet.
  wanted_ = {};
  wanted_.conditions = {{.type = "Created", .status = true}, {.type = "Running", .status = true}};
  wanted_.state = JobState::kRunning;
  EXPECT_TRUE(IsDecision());
}

TEST_F(PacingTest, WherePodsAreIsNoDecision) {
  wanted_.conditions[1].status = false;
  EXPECT_FALSE(IsDecision());
  clock_.Advance(seconds(10));
  EXPECT_FALSE(IsDecision());
  wanted_.conditions.erase(wanted_.conditions.begin() + 1);
  EXPECT_FALSE(IsDecision());
}

TEST_F(PacingTest, TheFirstWordsAreWrittenAtOnceUnlessJobsAreLaunched) {
  job_.status = {};
  wanted_ = {};
  wanted_.conditions = {{.type = "Created", .status = true}};
  writes_ = {};
  EXPECT_EQ(Delay(), Clock::Duration::zero());
  launching_ = true;
  EXPECT_EQ(Delay(), seconds(1));
  clock_.Advance(milliseconds(4'500));
  EXPECT_EQ(Delay(), milliseconds(500));
  clock_.Advance(milliseconds(500));
  EXPECT_EQ(Delay(), Clock::Duration::zero());
}

TEST_F(PacingTest, ALeaderThatHasJustBegunWritesWhatDiffers) {
  wanted_.ready = "1/2";
  writes_ = {};
  EXPECT_EQ(Delay(), Clock::Duration::zero());
}

// Symptom: of a job whose replicas start together the first one's count was written, and at once
// after it that all of them run.
TEST_F(PacingTest, CountsWaitForThoseThatFollowAtOnce) {
  clock_.Advance(std::chrono::hours(1));
  wanted_.ready = "1/2";
  EXPECT_EQ(Delay(), milliseconds(300));
  clock_.Advance(milliseconds(200));
  wanted_.ready = "2/2";
  EXPECT_EQ(Delay(), milliseconds(100));
}

TEST_F(PacingTest, CountsAreWrittenOnceASecond) {
  clock_.Advance(milliseconds(100));
  wanted_.ready = "1/2";
  EXPECT_EQ(Delay(), milliseconds(900));
}

TEST_F(PacingTest, CountsWaitForLaunchesAndNotForEver) {
  clock_.Advance(std::chrono::hours(1));
  launching_ = true;
  wanted_.ready = "1/2";
  EXPECT_EQ(Delay(), seconds(1));
  clock_.Advance(seconds(5));
  EXPECT_EQ(Delay(), Clock::Duration::zero());
}

TEST_F(PacingTest, CountsThatAreAsBeforeBeginNoWait) {
  clock_.Advance(std::chrono::hours(1));
  wanted_.ready = "1/2";
  Delay();
  wanted_ = job_.status;
  EXPECT_EQ(Delay(), std::nullopt);
  clock_.Advance(seconds(5));
  wanted_.ready = "1/2";
  EXPECT_EQ(Delay(), milliseconds(300));
}

TEST_F(PacingTest, ProgressIsWrittenEveryTenSeconds) {
  clock_.Advance(seconds(3));
  job_.status.progress = Progress{.step = 3};
  wanted_.progress = Progress{.step = 7};
  EXPECT_EQ(Delay(), seconds(7));
}

// Symptom: a job of six seconds showed no step before it had ended.
TEST_F(PacingTest, TheFirstProgressIsWrittenAsSoonAsCountsAre) {
  clock_.Advance(milliseconds(200));
  wanted_.progress = Progress{.step = 7};
  EXPECT_EQ(Delay(), milliseconds(800));
}

TEST_F(PacingTest, AStatusThatCannotBeReadIsWrittenAnewAtOnce) {
  job_.unreadable_status = R"({"conditions":5})";
  EXPECT_TRUE(IsDecision());
}

}  // namespace
}  // namespace taas
