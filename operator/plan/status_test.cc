#include "operator/plan/status.h"

#include "gtest/gtest.h"
#include "operator/plan/plan_fixture.h"

namespace taas {
namespace {

JobStatus StatusOf(const Snapshot& now) { return DeriveStatus(now, *now.job.ledger); }

const Condition* Find(const JobStatus& status, std::string_view type) {
  for (const Condition& condition : status.conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

Snapshot RunningJob() {
  Snapshot now = StartedJob({.chiefs = 1, .ps = 1, .workers = 1});
  now.pods = {PodOf(now, Role::kChief, 0), PodOf(now, Role::kPs, 0), PodOf(now, Role::kWorker, 0)};
  return now;
}

TEST(StatusTest, ReplicasAreCountedByRole) {
  Snapshot now = RunningJob();
  now.pods[1].phase = PodPhase::kPending;
  EntryOf(now, Role::kWorker, 0).completed = true;
  now.pods[2].phase = PodPhase::kSucceeded;
  const JobStatus status = StatusOf(now);
  EXPECT_EQ(status.replica_statuses.at(Role::kChief),
            (ReplicaStatus{.desired = 1, .active = 1, .ready = 1}));
  EXPECT_EQ(status.replica_statuses.at(Role::kPs), (ReplicaStatus{.desired = 1, .active = 1}));
  EXPECT_EQ(status.replica_statuses.at(Role::kWorker),
            (ReplicaStatus{.desired = 1, .succeeded = 1}));
  EXPECT_EQ(status.ready, "1/3");
  EXPECT_EQ(status.selector, "taas.dev/job-name=mnist,taas.dev/role=worker");
}

// Symptom: READY 3/3 of a job whose pods had all completed, or were not ready by their own word.
TEST(StatusTest, ReadyAreThosePodsThatAre) {
  Snapshot now = RunningJob();
  EXPECT_EQ(StatusOf(now).ready, "3/3");
  now.pods[2].unready = true;
  EXPECT_EQ(StatusOf(now).ready, "2/3");
  EXPECT_EQ(StatusOf(now).state, JobState::kRunning);
  now.job.ledger->outcome = JobState::kSucceeded;
  for (Pod& pod : now.pods) pod.phase = PodPhase::kSucceeded;
  EXPECT_EQ(StatusOf(now).ready, "0/3");
}

// Symptom: GPUs of pods that no node had room for counted as held.
TEST(StatusTest, GpusAreHeldByPodsThatHaveANodeAndHaveNotEnded) {
  Snapshot now = RunningJob();
  for (auto& [role, spec] : now.job.spec.roles) spec.gpus = 2;
  EXPECT_EQ(StatusOf(now).gpus, 6);
  now.pods[2] = PodOf(now, Role::kWorker, 0, {.phase = PodPhase::kPending});
  EXPECT_EQ(StatusOf(now).gpus, 4);
  now.pods[1].phase = PodPhase::kFailed;
  EXPECT_EQ(StatusOf(now).gpus, 2);
}

TEST(StatusTest, AnInternalErrorKeepsTheRestOfTheStatusAndIsTakenBackLater) {
  Snapshot now = RunningJob();
  now.job.status = StatusOf(now);
  const JobStatus before = now.job.status;
  now.job.status = InternalErrorStatus(now, "map::at");
  EXPECT_EQ(now.job.status.state, before.state);
  EXPECT_EQ(now.job.status.ready, before.ready);
  EXPECT_EQ(now.job.status.message, "InternalError: map::at");
  ASSERT_NE(Find(now.job.status, kInternalErrorCondition), nullptr);
  EXPECT_TRUE(Find(now.job.status, kInternalErrorCondition)->status);
  const JobStatus after = StatusOf(now);
  EXPECT_EQ(after.message, "");
  EXPECT_FALSE(Find(after, kInternalErrorCondition)->status);
}

TEST(StatusTest, AJobRunsWhenItsChiefAndAllItsPsRun) {
  Snapshot now = RunningJob();
  now.pods.pop_back();
  EXPECT_EQ(StatusOf(now).state, JobState::kRunning);
  now.pods.pop_back();
  EXPECT_EQ(StatusOf(now).state, JobState::kPending);
}

TEST(StatusTest, AJobRestartsWhileAReplicaIsBetweenTwoPods) {
  Snapshot now = RunningJob();
  EntryOf(now, Role::kWorker, 0).pod_number = 2;
  JobStatus status = StatusOf(now);
  EXPECT_EQ(status.state, JobState::kRestarting);
  ASSERT_NE(Find(status, "Restarting"), nullptr);
  EXPECT_TRUE(Find(status, "Restarting")->status);
  now.job.status = status;
  now.pods[2].pod_number = 2;
  status = StatusOf(now);
  EXPECT_EQ(status.state, JobState::kRunning);
  EXPECT_FALSE(Find(status, "Restarting")->status);
}

TEST(StatusTest, NothingChangesWhileNothingHappens) {
  Snapshot now = RunningJob();
  now.job.status = StatusOf(now);
  now.now += std::chrono::hours(1);
  EXPECT_EQ(StatusOf(now), now.job.status);
}

TEST(StatusTest, ATransitionTimeMovesOnlyWithTheStatusOfItsCondition) {
  Snapshot now = RunningJob();
  now.job.status = StatusOf(now);
  const auto before = Find(now.job.status, "Scheduled")->last_transition_time;
  now.now += std::chrono::hours(1);
  now.pods[1].phase = PodPhase::kPending;
  const JobStatus status = StatusOf(now);
  EXPECT_EQ(Find(status, "Scheduled")->last_transition_time, before);
  EXPECT_EQ(Find(status, "Running")->last_transition_time, now.now);
}

TEST(StatusTest, AnEndedJobHasItsConditionItsTimeAndTheChiefsLastWord) {
  Snapshot now = RunningJob();
  now.job.ledger->outcome = JobState::kSucceeded;
  now.job.ledger->outcome_reason = "Completed";
  now.job.ledger->outcome_time = now.now;
  EntryOf(now, Role::kChief, 0).completed = true;
  now.pods[0] = PodOf(now, Role::kChief, 0,
                      {.phase = PodPhase::kSucceeded,
                       .termination_message =
                           R"({"message":"done","step":2000,"loss":0.08,"examplesPerSecond":21000,
                               "evaluation":{"step":2000,"accuracy":0.954,"loss":0.16,"examples":9},
                               "data":{"source":"MNIST"}})"});
  const JobStatus status = StatusOf(now);
  EXPECT_EQ(status.state, JobState::kSucceeded);
  EXPECT_EQ(status.completion_time, now.now);
  ASSERT_NE(Find(status, "Succeeded"), nullptr);
  EXPECT_TRUE(Find(status, "Succeeded")->status);
  EXPECT_FALSE(Find(status, "Running")->status);
  EXPECT_EQ(Find(status, "Failed"), nullptr);
  ASSERT_TRUE(status.progress.has_value());
  EXPECT_EQ(status.progress->step, 2000);
  EXPECT_EQ(status.progress->percent, 100);
  EXPECT_EQ(status.progress->evaluation->accuracy, 0.954);
  EXPECT_EQ(status.progress->data_source, "MNIST");
}

TEST(StatusTest, ProgressIsWhatTheChiefAnsweredAndIsKeptWhenItFallsSilent) {
  Snapshot now = RunningJob();
  now.polled = TrainerReport{.step = 500, .examples_per_second = 9.5};
  now.job.status = StatusOf(now);
  EXPECT_EQ(now.job.status.progress->percent, 25);
  now.polled.reset();
  EXPECT_EQ(StatusOf(now).progress->step, 500);
}

// Symptom: a job that was suspended at step 89 saved step 133 on its way out, and went on from
// there while its status said 89.
TEST(StatusTest, OfASuspendedJobTheLastWordOfItsPodCounts) {
  Snapshot now = RunningJob();
  now.polled = TrainerReport{.step = 89};
  now.job.status = StatusOf(now);
  now.polled.reset();
  now.job.ledger->suspended = true;
  Pod ended = PodOf(now, Role::kChief, 0,
                    {.phase = PodPhase::kFailed,
                     .termination_message = R"({"message":"stopped","step":133})"});
  ++EntryOf(now, Role::kChief, 0).pod_number;
  std::erase_if(now.pods, [](const Pod& pod) { return pod.role == Role::kChief; });
  EXPECT_EQ(StatusOf(now).progress->step, 89);
  now.gone = {ended};
  EXPECT_EQ(StatusOf(now).progress->step, 133);
  now.gone[0].termination_message = R"({"message":"stopped","step":80})";
  EXPECT_EQ(StatusOf(now).progress->step, 89) << "of an earlier attempt";
}

TEST(StatusTest, AWipedStatusOfAFailedJobComesBackFromTheLedger) {
  Snapshot now = RunningJob();
  now.job.ledger->outcome = JobState::kFailed;
  now.job.ledger->outcome_reason = "BackoffLimitExceeded";
  now.job.ledger->outcome_message = "m";
  now.job.ledger->restarts = {{RestartCause::kUserError, 6}};
  const JobStatus before = StatusOf(now);
  now.job.status = {};
  now.pods.clear();
  const JobStatus after = StatusOf(now);
  EXPECT_EQ(after.state, JobState::kFailed);
  EXPECT_EQ(after.restarts, before.restarts);
  EXPECT_EQ(after.message, "m");
  EXPECT_EQ(Find(after, "Failed")->reason, "BackoffLimitExceeded");
}

}  // namespace
}  // namespace taas
