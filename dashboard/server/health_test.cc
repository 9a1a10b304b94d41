#include "dashboard/server/health.h"

#include <functional>

#include "gtest/gtest.h"

namespace taas::dashboard {
namespace {

using namespace std::chrono_literals;

const Clock::WallTime kNow = Clock::WallTime(1'800'000'000s);

struct PodCase {
  const char* name;
  std::function<void(WatchedPod&)> make;
  Level level;
  const char* reason;
};

WatchedPod Pod() {
  WatchedPod pod;
  pod.meta.creation_time = kNow - 1h;
  pod.node = "n";
  pod.phase = PodPhase::kRunning;
  return pod;
}

class PodHealthTest : public testing::TestWithParam<PodCase> {};

TEST_P(PodHealthTest, IsAsTheTableSays) {
  WatchedPod pod = Pod();
  GetParam().make(pod);
  const Health health = HealthOfPod(pod, kNow);
  EXPECT_EQ(LevelName(health.level), LevelName(GetParam().level));
  EXPECT_EQ(health.reason, GetParam().reason);
}

void Pending(WatchedPod& pod, Clock::Duration age) {
  pod.phase = PodPhase::kPending;
  pod.meta.creation_time =
      kNow - std::chrono::duration_cast<Clock::WallTime::duration>(age);
}

INSTANTIATE_TEST_SUITE_P(
    Table, PodHealthTest,
    testing::Values(
        PodCase{"Runs", [](auto&) {}, Level::kOk, ""},
        PodCase{"CrashLoops", [](auto& p) { p.waiting_reason = "CrashLoopBackOff"; },
                Level::kCritical, "CrashLoop"},
        PodCase{"CrashLoopsForWantOfMemory",
                [](auto& p) {
                  p.waiting_reason = "CrashLoopBackOff";
                  p.last_exit_reason = "OOMKilled";
                },
                Level::kCritical, "OutOfMemory"},
        PodCase{"HasNoImage", [](auto& p) { p.waiting_reason = "ImagePullBackOff"; },
                Level::kCritical, "ImagePull"},
        PodCase{"HasNoConfig", [](auto& p) { p.waiting_reason = "CreateContainerConfigError"; },
                Level::kCritical, "ConfigError"},
        PodCase{"WasJustMade", [](auto& p) { Pending(p, 5s); }, Level::kOk, ""},
        PodCase{"PullsForLong", [](auto& p) { Pending(p, 2min); }, Level::kWarning, "PendingLong"},
        PodCase{"HasNoPlaceYet",
                [](auto& p) {
                  Pending(p, 2s);
                  p.node = "";
                  p.unschedulable_reason = "Unschedulable";
                },
                Level::kOk, ""},
        PodCase{"HasNoPlace",
                [](auto& p) {
                  Pending(p, 1min);
                  p.node = "";
                  p.unschedulable_reason = "Unschedulable";
                },
                Level::kWarning, "Unschedulable"},
        PodCase{"HasNoPlaceForLong",
                [](auto& p) {
                  Pending(p, 6min);
                  p.node = "";
                  p.unschedulable_reason = "Unschedulable";
                },
                Level::kCritical, "Unschedulable"},
        PodCase{"FailedJustNow",
                [](auto& p) {
                  p.phase = PodPhase::kFailed;
                  p.finished_at = kNow - 1s;
                },
                Level::kWarning, "PodFailed"},
        PodCase{"FailedAndStays",
                [](auto& p) {
                  p.phase = PodPhase::kFailed;
                  p.finished_at = kNow - 1min;
                },
                Level::kCritical, "PodFailed"},
        PodCase{"RanOutOfMemory",
                [](auto& p) {
                  p.phase = PodPhase::kFailed;
                  p.exit_reason = "OOMKilled";
                  p.finished_at = kNow - 1min;
                },
                Level::kCritical, "OutOfMemory"},
        PodCase{"Succeeded", [](auto& p) { p.phase = PodPhase::kSucceeded; }, Level::kOk, ""},
        PodCase{"LostItsNode", [](auto& p) { p.node_lost = true; }, Level::kCritical, "NodeLost"},
        PodCase{"ItsNodeIsSilent", [](auto& p) { p.node_silent = true; }, Level::kWarning,
                "NodeSilent"},
        PodCase{"IsTakenDown", [](auto& p) { p.meta.deletion_time = kNow + 5s; }, Level::kOk, ""},
        PodCase{"DoesNotGo", [](auto& p) { p.meta.deletion_time = kNow - 1min; }, Level::kWarning,
                "TerminatingLong"}),
    [](const auto& info) { return std::string(info.param.name); });

class JobHealthTest : public testing::Test {
 protected:
  Health Judge() const {
    return HealthOf({.job = job_,
                     .pods = pods_,
                     .now = kNow,
                     .step_since = step_since_,
                     .loss_rises = loss_rises_});
  }
  WatchedJob job_ = [] {
    WatchedJob job;
    job.meta.creation_time = kNow - 1h;
    job.status.state = JobState::kRunning;
    return job;
  }();
  std::vector<std::shared_ptr<const WatchedPod>> pods_ = {std::make_shared<WatchedPod>(Pod())};
  std::optional<Clock::WallTime> step_since_;
  bool loss_rises_ = false;
};

// Symptom: a job that is said to be Running while a pod of it cannot start
// (volcano-sh/dashboard#368).
TEST_F(JobHealthTest, ARunningJobIsAsIllAsItsWorstPod) {
  EXPECT_EQ(Judge().level, Level::kOk);
  WatchedPod ill = Pod();
  ill.waiting_reason = "ErrImagePull";
  pods_.push_back(std::make_shared<WatchedPod>(ill));
  EXPECT_EQ(Judge().reason, "ImagePull");
  EXPECT_EQ(Judge().level, Level::kCritical);
}

TEST_F(JobHealthTest, TheEndDecides) {
  WatchedPod failed = Pod();
  failed.phase = PodPhase::kFailed;
  pods_.push_back(std::make_shared<WatchedPod>(failed));
  job_.status.state = JobState::kSucceeded;
  EXPECT_EQ(Judge().level, Level::kOk);
  job_.status.state = JobState::kSuspended;
  EXPECT_EQ(Judge().level, Level::kOk);
  job_.status.state = JobState::kFailed;
  EXPECT_EQ(Judge().reason, "Failed");
}

TEST_F(JobHealthTest, ARestartIsWorthALookForAWhile) {
  job_.status.history.push_back({.time = kNow - 1min});
  EXPECT_EQ(Judge().reason, "RestartedLately");
  job_.status.history.back().time = kNow - 1h;
  EXPECT_EQ(Judge().level, Level::kOk);
  job_.status.state = JobState::kRestarting;
  EXPECT_EQ(Judge().reason, "Restarting");
}

// Symptom: eight out-of-memory kills in a row were "restarting", and nothing was to be done.
TEST_F(JobHealthTest, AReplicaThatEndsByItselfAgainAndAgainIsCritical) {
  const auto end = [&](RestartCause cause, int32_t index, Clock::Duration ago) {
    job_.status.history.push_back({.role = Role::kWorker, .index = index, .cause = cause,
                                   .time = kNow - ago});
  };
  job_.status.state = JobState::kRestarting;
  pods_.clear();
  end(RestartCause::kOutOfMemory, 0, 20min);
  end(RestartCause::kOutOfMemory, 0, 8min);
  EXPECT_EQ(Judge().level, Level::kWarning);
  EXPECT_EQ(Judge().reason, "OutOfMemory") << "rather than that it restarts";
  end(RestartCause::kOutOfMemory, 1, 1min);
  EXPECT_EQ(Judge().level, Level::kWarning) << "another replica";
  job_.status.history.pop_back();
  end(RestartCause::kOutOfMemory, 0, 1min);
  EXPECT_EQ(Judge().level, Level::kCritical);
  EXPECT_EQ(Judge().reason, "OutOfMemory");
  job_.status.history.back().cause = RestartCause::kUserError;
  EXPECT_EQ(Judge().reason, "CrashLoop");
  job_.status.history.back().cause = RestartCause::kPreempted;
  EXPECT_EQ(Judge().reason, "Restarting") << "not the program's own end";

  // Its pod of now has run for longer than a moment: that one may go on.
  job_.status.history.back().cause = RestartCause::kOutOfMemory;
  job_.status.state = JobState::kRunning;
  const auto pod = std::make_shared<WatchedPod>(Pod());
  pods_.push_back(pod);
  pod->role = Role::kWorker;
  pod->index = 0;
  pod->phase = PodPhase::kRunning;
  pod->started_at = kNow - 30s;
  EXPECT_EQ(Judge().level, Level::kCritical);
  pod->started_at = kNow - 2min;
  EXPECT_EQ(Judge().level, Level::kWarning);
  for (auto& one : job_.status.history) one.time -= 10min;
  EXPECT_EQ(Judge().level, Level::kOk) << "long ago";
}

TEST_F(JobHealthTest, AJobWithoutPodsForAMinuteIsNotWell) {
  job_.status.state = JobState::kPending;
  pods_.clear();
  EXPECT_EQ(Judge().reason, "PendingLong");
  job_.meta.creation_time = kNow - 10s;
  EXPECT_EQ(Judge().level, Level::kOk);
}

// Symptom: a training that had diverged was Healthy and green.
TEST_F(JobHealthTest, ATrainingWhoseLossRisesIsToldOf) {
  EXPECT_EQ(Judge().level, Level::kOk);
  loss_rises_ = true;
  EXPECT_EQ(LevelName(Judge().level), "warning");
  EXPECT_EQ(Judge().reason, "LossRises");
}

TEST_F(JobHealthTest, ATrainingThatStandsStillIsToldOf) {
  step_since_ = kNow - 1min;
  EXPECT_EQ(Judge().level, Level::kOk);
  step_since_ = kNow - 6min;
  EXPECT_EQ(Judge().reason, "NoProgress");
  EXPECT_TRUE(StandsStill({.job = job_, .pods = pods_, .now = kNow, .step_since = step_since_}));
}

}  // namespace
}  // namespace taas::dashboard
