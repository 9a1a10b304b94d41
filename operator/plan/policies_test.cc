// Success, suspension and deadlines: what the policies of a job make of its ledger and of its pods.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/plan/ledger.h"
#include "operator/plan/plan.h"
#include "operator/plan/plan_fixture.h"

namespace taas {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

void Complete(Snapshot& now, Role role, int32_t index) {
  for (Pod& pod : now.pods) {
    if (pod.role == role && pod.index == index) {
      pod = PodOf(now, role, index, {.phase = PodPhase::kSucceeded});
    }
  }
}

Snapshot RunningJob(JobShape shape) {
  Snapshot now = StartedJob(shape);
  for (const auto& [role, spec] : now.job.spec.roles) {
    for (int32_t i = 0; i < spec.replicas; ++i) now.pods.push_back(PodOf(now, role, i));
  }
  return now;
}

TEST(SuccessPolicyTest, WithAllWorkersTheChiefAndEveryWorkerMustComplete) {
  Snapshot now = RunningJob({.chiefs = 1, .workers = 2});
  now.job.spec.success_policy = SuccessPolicy::kAllWorkers;
  Complete(now, Role::kChief, 0);
  Complete(now, Role::kWorker, 0);
  EXPECT_FALSE(AdvanceLedger(now).ledger.finishing_since.has_value());
  Complete(now, Role::kWorker, 1);
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.outcome, JobState::kSucceeded);
  EXPECT_EQ(ledger.outcome_message, "chief-0 and 2 more completed");
}

TEST(SuccessPolicyTest, WithWorker0TheChiefIsNotAsked) {
  Snapshot now = RunningJob({.chiefs = 1, .workers = 2});
  now.job.spec.success_policy = SuccessPolicy::kWorker0;
  Complete(now, Role::kWorker, 0);
  EXPECT_TRUE(AdvanceLedger(now).ledger.finishing_since.has_value());
  EXPECT_EQ(PlanJob(now).status.success_policy, SuccessPolicy::kWorker0);
}

TEST(SuccessPolicyTest, TheEffectiveOneStandsInStatus) {
  EXPECT_EQ(PlanJob(RunningJob({.workers = 2})).status.success_policy, SuccessPolicy::kWorker0);
  EXPECT_EQ(PlanJob(RunningJob({.chiefs = 1, .workers = 2})).status.success_policy,
            SuccessPolicy::kAuto);
}

TEST(FinishTest, ACompletedJobWaitsForItsEvaluatorAndFreesTheOthersAfterTheirGrace) {
  Snapshot now = RunningJob({.chiefs = 1, .ps = 1, .evaluators = 1});
  Complete(now, Role::kChief, 0);
  Plan plan = Follow(now);
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_EQ(plan.wake_at, now.now + kTrainerFinishGrace);
  EXPECT_THAT(plan.status.message, HasSubstr("evaluator-0 still evaluates the last checkpoint"));
  EXPECT_EQ(plan.status.state, JobState::kRunning);
  now.now += kTrainerFinishGrace;
  plan = PlanJob(now);
  const auto deletes = StepsOf<DeletePod>(plan);
  ASSERT_EQ(deletes.size(), 1u);
  EXPECT_EQ(deletes[0].name, "mnist-ps-0");
  now.pods.erase(now.pods.begin() + 1);
  EXPECT_EQ(PlanJob(now).wake_at, *now.job.ledger->finishing_since + kEvaluatorGrace);
  Complete(now, Role::kEvaluator, 0);
  Follow(now);
  EXPECT_EQ(now.job.ledger->outcome, JobState::kSucceeded);
  EXPECT_EQ(now.job.ledger->outcome_message, "chief-0 completed");
}

// Symptom: an evaluator that completed in the grace of the others was made again, and the count of
// completed replicas fell.
TEST(FinishTest, InTheGraceOfTheOthersCompletionsAreToldAndTheEvaluatorsIsWritten) {
  Snapshot now = RunningJob({.chiefs = 1, .workers = 2, .evaluators = 1});
  Complete(now, Role::kChief, 0);
  Follow(now);
  EXPECT_EQ(PlanJob(now).status.ready, "3/4");
  Complete(now, Role::kWorker, 0);
  Complete(now, Role::kEvaluator, 0);
  const Plan plan = Follow(now);
  EXPECT_EQ(plan.status.ready, "1/4");
  EXPECT_EQ(plan.status.state, JobState::kRunning);
  EXPECT_EQ(plan.status.replica_statuses.at(Role::kWorker).succeeded, 1);
  EXPECT_TRUE(EntryOf(now, Role::kEvaluator, 0).completed);
  EXPECT_FALSE(EntryOf(now, Role::kWorker, 0).completed);
}

TEST(FinishTest, AnEvaluatorThatDoesNotEndHasTenMinutes) {
  Snapshot now = RunningJob({.chiefs = 1, .evaluators = 1});
  Complete(now, Role::kChief, 0);
  Follow(now);
  now.now += kEvaluatorGrace - seconds(1);
  EXPECT_TRUE(PlanJob(now).steps.empty());
  now.now += seconds(1);
  Follow(now);
  EXPECT_EQ(now.job.ledger->outcome, JobState::kSucceeded);
  EXPECT_THAT(now.job.ledger->outcome_message, HasSubstr("evaluator-0 did not end within 10 min"));
}

TEST(FinishTest, AnEvaluatorThatIsLostInItsGraceIsMadeAgainAndNoOtherReplicaIs) {
  Snapshot now = RunningJob({.chiefs = 1, .workers = 1, .evaluators = 1});
  Complete(now, Role::kChief, 0);
  Follow(now);
  now.gone = {now.pods[1], now.pods[2]};
  now.pods.resize(1);
  const auto pods = StepsOf<CreatePod>(Follow(now));
  ASSERT_EQ(pods.size(), 1u);
  EXPECT_EQ(pods[0].pod.name, "mnist-evaluator-0");
  EXPECT_EQ(pods[0].pod.pod_number, 2);
}

TEST(FinishTest, AnEvaluatorThatFailedForGoodIsNotWaitedForAndSaid) {
  Snapshot now = RunningJob({.chiefs = 1, .evaluators = 1});
  Complete(now, Role::kChief, 0);
  now.pods[1] = PodOf(now, Role::kEvaluator, 0, {.phase = PodPhase::kFailed, .exit_code = 1});
  Follow(now);
  EXPECT_EQ(now.job.ledger->outcome, JobState::kSucceeded);
  EXPECT_EQ(now.job.ledger->outcome_message,
            "chief-0 completed; evaluator-0 failed for good: exit code 1");
}

// Symptom: a job of own images whose parameter server never ends succeeded ten seconds late.
TEST(FinishTest, OwnProgramsThatGoOnHaveTheirGraceAfterTheSuccess) {
  Snapshot now = RunningJob({.chiefs = 1, .ps = 1, .workers = 1});
  now.job.spec.bundled_trainer = false;
  Complete(now, Role::kChief, 0);
  Plan plan = Follow(now);
  EXPECT_EQ(now.job.ledger->outcome, JobState::kSucceeded);
  EXPECT_EQ(plan.status.completion_time, now.now);
  EXPECT_TRUE(StepsOf<DeletePod>(plan).empty());
  EXPECT_EQ(plan.wake_at, now.now + kFinishGrace);
  // Who completes meanwhile is told at once and written with the others.
  now.now += seconds(2);
  Complete(now, Role::kWorker, 0);
  plan = PlanJob(now);
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_EQ(plan.status.replica_statuses.at(Role::kWorker).succeeded, 1);
  EXPECT_EQ(plan.status.completion_time, now.now - seconds(2));
  now.now += kFinishGrace;
  plan = Follow(now);
  EXPECT_TRUE(EntryOf(now, Role::kWorker, 0).completed);
  const auto deletes = StepsOf<DeletePod>(plan);
  ASSERT_EQ(deletes.size(), 1u);
  EXPECT_EQ(deletes[0].name, "mnist-ps-0");
  EXPECT_EQ(now.job.ledger->outcome_message, "chief-0 completed");
}

// Symptom: training was done, and the job ran for ten minutes more, since its evaluator had never
// found a node.
TEST(FinishTest, AnEvaluatorThatFindsNoPlaceIsNotWaitedForLongAndSaid) {
  Snapshot now = RunningJob({.chiefs = 1, .evaluators = 1});
  Complete(now, Role::kChief, 0);
  now.pods[1] = PodOf(now, Role::kEvaluator, 0, {.phase = PodPhase::kPending});
  now.pods[1].unschedulable_reason = "Unschedulable";
  now.pods[1].unschedulable_message = "0/1 nodes are available";
  EXPECT_EQ(Follow(now).wake_at, now.now + kPlacementGrace);
  EXPECT_FALSE(now.job.ledger->outcome.has_value());
  now.now += kPlacementGrace;
  const Plan plan = Follow(now);
  EXPECT_EQ(now.job.ledger->outcome, JobState::kSucceeded);
  EXPECT_EQ(plan.status.message,
            "evaluator-0 did not evaluate the last checkpoint: it cannot be scheduled: "
            "Unschedulable: 0/1 nodes are available");
  EXPECT_EQ(StepsOf<DeletePod>(plan).size(), 1u);
}

TEST(FinishTest, AnEvaluatorThatIsRefusedIsNotWaitedForLongEither) {
  Snapshot now = RunningJob({.chiefs = 1, .evaluators = 1});
  Complete(now, Role::kChief, 0);
  now.pods.pop_back();
  Follow(now);
  now.now += kPlacementGrace;
  now.refusal = "create pod default/mnist-evaluator-0: exceeded quota";
  Follow(now);
  EXPECT_EQ(now.job.ledger->outcome, JobState::kSucceeded);
  EXPECT_THAT(now.job.ledger->outcome_remark, HasSubstr("exceeded quota"));
}

// Symptom: a job that was applied again with a checkpoint at its last step succeeded in a moment,
// and nothing told that it had trained nothing.
TEST(FinishTest, WhatTheTrainerHasToSayAtAGoodEndIsTheJobsMessageAndItsEvents) {
  Snapshot now = RunningJob({.workers = 1});
  Complete(now, Role::kWorker, 0);
  now.pods[0].termination_message =
      R"({"message":"nothing was left to train: the checkpoint is of step 2000","step":2000})";
  const auto ledgers = StepsOf<WriteLedger>(PlanJob(now));
  ASSERT_EQ(ledgers.size(), 1u);
  EXPECT_THAT(ledgers[0].notes.back().message, HasSubstr("nothing was left to train"));
  const Plan plan = Follow(now);
  EXPECT_EQ(plan.status.message,
            "nothing was left to train: the checkpoint is of step 2000");
  EXPECT_EQ(plan.status.state, JobState::kSucceeded);
  // Also when its pod is gone.
  now.pods.clear();
  EXPECT_EQ(PlanJob(now).status.message, plan.status.message);
}

TEST(FinishTest, ReplicasThatAreAddedLaterAreWaitedFor) {
  Snapshot now = RunningJob({.workers = 2, .evaluators = 1});
  now.job.spec.success_policy = SuccessPolicy::kAllWorkers;
  Complete(now, Role::kWorker, 0);
  Complete(now, Role::kWorker, 1);
  Follow(now);
  ASSERT_TRUE(now.job.ledger->finishing_since.has_value());
  now.job.spec.roles[Role::kWorker].replicas = 3;
  const auto pods = StepsOf<CreatePod>(Follow(now));
  EXPECT_FALSE(now.job.ledger->finishing_since.has_value());
  ASSERT_EQ(pods.size(), 1u);
  EXPECT_EQ(pods[0].pod.name, "mnist-worker-2");
}

TEST(SuspendTest, AJobThatIsCreatedSuspendedHasNoPodsAndNoStartUntilItIsResumed) {
  Snapshot now = NewJob({.workers = 2});
  now.job.spec.suspend = true;
  Plan plan = Follow(now);
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_EQ(plan.status.state, JobState::kSuspended);
  EXPECT_FALSE(plan.status.start_time.has_value());
  EXPECT_THAT(plan.status.message, HasSubstr("spec.suspend"));
  now.job.spec.suspend = false;
  now.now += seconds(60);
  plan = Follow(now);
  EXPECT_EQ(StepsOf<CreatePod>(plan).size(), 2u);
  EXPECT_EQ(plan.status.start_time, now.now);
  EXPECT_EQ(plan.status.attempt, 1);
  EXPECT_EQ(plan.status.state, JobState::kPending);
}

TEST(SuspendTest, AllPodsGoThatTheNextAttemptFollowsAndNothingIsCounted) {
  Snapshot now = RunningJob({.ps = 1, .workers = 2});
  now.job.spec.clean_pod_policy = CleanPodPolicy::kNone;
  Complete(now, Role::kWorker, 1);
  now.job.spec.suspend = true;
  Plan plan = Follow(now);
  EXPECT_EQ(StepsOf<DeletePod>(plan).size(), 3u);
  now.gone = now.pods;
  now.pods.clear();
  EXPECT_TRUE(PlanJob(now).steps.empty());
  now.job.spec.suspend = false;
  now.now += seconds(60);
  plan = Follow(now);
  const auto pods = StepsOf<CreatePod>(plan);
  ASSERT_EQ(pods.size(), 2u);  // The completed one stays so.
  EXPECT_EQ(pods[0].pod.pod_number, 2);
  EXPECT_EQ(pods[0].pod.labels.at("taas.dev/attempt"), "2");
  EXPECT_EQ(plan.status.attempt, 2);
  EXPECT_EQ(plan.status.start_time, now.now);
  EXPECT_TRUE(plan.status.restarts.empty());
  EXPECT_EQ(plan.status.state, JobState::kPending);
}

TEST(SuspendTest, APodThatACreationUnderWayMadeAfterwardsGoesToo) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.spec.suspend = true;
  Follow(now);
  now.pods = {PodOf(now, Role::kWorker, 0)};
  EXPECT_EQ(StepsOf<DeletePod>(Follow(now)).size(), 1u);
  EXPECT_EQ(EntryOf(now, Role::kWorker, 0).pod_number, 2);
}

// Symptom: a job that had what it was for while it was suspended ended as a suspended one.
TEST(SuspendTest, AJobThatHasWhatItWasForEndsWhenItIsResumed) {
  Snapshot now = RunningJob({.workers = 2});
  now.job.spec.success_policy = SuccessPolicy::kAllWorkers;
  Complete(now, Role::kWorker, 0);
  Follow(now);
  now.job.spec.suspend = true;
  Follow(now);
  now.pods.clear();
  now.job.spec.roles[Role::kWorker].replicas = 1;
  now.now += seconds(60);
  Follow(now);
  EXPECT_FALSE(now.job.ledger->outcome.has_value());
  EXPECT_EQ(PlanJob(now).status.state, JobState::kSuspended);
  now.job.spec.suspend = false;
  Follow(now);
  EXPECT_EQ(now.job.ledger->outcome, JobState::kSucceeded);
  EXPECT_FALSE(now.job.ledger->suspended);
}

// Symptom: the evaluator of a released job that had what it was for was not made in its time.
TEST(PendingDeadlineTest, AJobThatHasWhatItWasForIsReleasedNoMore) {
  Snapshot now = StartedJob({.workers = 2, .evaluators = 1});
  now.job.spec.success_policy = SuccessPolicy::kAllWorkers;
  now.job.spec.pending_deadline_seconds = 30;
  EntryOf(now, Role::kWorker, 0).completed = true;
  now.job.ledger->released_until = now.now + minutes(5);
  now.job.ledger->released_because = "no room";
  now.job.spec.roles[Role::kWorker].replicas = 1;
  const Plan plan = Follow(now);
  EXPECT_FALSE(now.job.ledger->released_until.has_value());
  ASSERT_EQ(StepsOf<CreatePod>(plan).size(), 1u);
  EXPECT_EQ(plan.status.state, JobState::kRunning);
}

TEST(ActiveDeadlineTest, FiresWithoutAnyOtherEventAndStopsWhatRunsWhateverThePolicy) {
  Snapshot now = RunningJob({.workers = 2});
  now.job.spec.active_deadline_seconds = 60;
  now.job.spec.clean_pod_policy = CleanPodPolicy::kNone;
  const Clock::WallTime deadline = *now.job.ledger->start_time + seconds(60);
  Plan plan = PlanJob(now);
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_EQ(plan.wake_at, deadline);
  now.now = deadline;
  plan = Follow(now);
  EXPECT_EQ(now.job.ledger->outcome_reason, "DeadlineExceeded");
  EXPECT_THAT(plan.status.message, HasSubstr("activeDeadlineSeconds, 60 s since its start"));
  EXPECT_EQ(StepsOf<DeletePod>(plan).size(), 2u);
}

// Symptom: a TFJob with a deadline of 9999999999 s failed at once.
TEST(ActiveDeadlineTest, OneBeyondAllTimesDoesNotPass) {
  Snapshot now = RunningJob({.workers = 1});
  for (const int64_t limit : {int64_t{9'999'999'999}, INT64_MAX}) {
    now.job.spec.active_deadline_seconds = limit;
    EXPECT_FALSE(AdvanceLedger(now).ledger.outcome.has_value()) << limit;
  }
}

TEST(ActiveDeadlineTest, ASuspendedJobAndOneThatCompletedInTimeHaveNone) {
  Snapshot now = RunningJob({.chiefs = 1, .evaluators = 1});
  now.job.spec.active_deadline_seconds = 60;
  Complete(now, Role::kChief, 0);
  Follow(now);
  now.now += seconds(120);
  EXPECT_FALSE(AdvanceLedger(now).ledger.outcome.has_value());
  Snapshot suspended = RunningJob({.workers = 1});
  suspended.job.spec.active_deadline_seconds = 60;
  suspended.job.spec.suspend = true;
  suspended.now += seconds(120);
  EXPECT_FALSE(AdvanceLedger(suspended).ledger.outcome.has_value());
}

TEST(PendingDeadlineTest, ReleasesAllReplicasWithTheReasonAndMakesThemAgainLater) {
  Snapshot now = RunningJob({.ps = 1, .workers = 2});
  now.job.spec.pending_deadline_seconds = 30;
  now.pods[2].phase = PodPhase::kPending;
  now.pods[2].unschedulable_reason = "Unschedulable";
  now.pods[2].unschedulable_message = "0/3 nodes are available";
  EXPECT_EQ(Follow(now).wake_at, now.now + seconds(30));
  now.now += seconds(30);
  const auto ledgers = StepsOf<WriteLedger>(PlanJob(now));
  ASSERT_EQ(ledgers.size(), 1u);
  ASSERT_EQ(ledgers[0].notes.size(), 1u);
  EXPECT_EQ(ledgers[0].notes[0].reason, "PendingDeadlineExceeded");
  EXPECT_TRUE(ledgers[0].notes[0].warning);
  EXPECT_THAT(ledgers[0].notes[0].message, HasSubstr("within 30 s"));
  Plan plan = Follow(now);
  EXPECT_EQ(StepsOf<DeletePod>(plan).size(), 3u);
  EXPECT_EQ(plan.status.state, JobState::kPending);
  EXPECT_THAT(plan.status.message,
              HasSubstr("worker-1 cannot be scheduled: Unschedulable: 0/3 nodes are available"));
  EXPECT_EQ(plan.wake_at, now.now + kReleaseDelay);
  now.gone = now.pods;
  now.pods.clear();
  plan = Follow(now);
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_TRUE(plan.status.restarts.empty());
  now.now += kReleaseDelay;
  plan = Follow(now);
  const auto pods = StepsOf<CreatePod>(plan);
  ASSERT_EQ(pods.size(), 3u);
  EXPECT_EQ(pods[0].pod.pod_number, 2);
  EXPECT_EQ(plan.status.state, JobState::kPending);
  EXPECT_EQ(plan.status.attempt, 2);
}

TEST(PendingDeadlineTest, EachReleaseLastsLongerUntilAllHaveRunOnce) {
  EXPECT_EQ(ReleaseDelay(1), seconds(10));
  EXPECT_EQ(ReleaseDelay(2), seconds(20));
  EXPECT_EQ(ReleaseDelay(5), seconds(160));
  EXPECT_EQ(ReleaseDelay(6), seconds(300));
  EXPECT_EQ(ReleaseDelay(2'000'000'000), seconds(300));
  Snapshot now = RunningJob({.workers = 1});
  now.job.spec.pending_deadline_seconds = 30;
  now.job.ledger->releases = 4;
  EXPECT_EQ(AdvanceLedger(now).ledger.releases, 0);
}

Pod Unplaced(const Snapshot& now, Role role, int32_t index, int32_t number = 1) {
  Pod pod = PodOf(now, role, index, {.phase = PodPhase::kPending, .number = number});
  pod.unschedulable_reason = "Unschedulable";
  return pod;
}

// Symptom: chief and worker trained, the evaluator found no node, and all of them were deleted
// after each pendingDeadlineSeconds, for ever.
TEST(PendingDeadlineTest, NobodyIsReleasedForAReplicaThatTrainingDoesNotNeed) {
  Snapshot now = RunningJob({.chiefs = 1, .workers = 1, .evaluators = 1});
  now.job.spec.pending_deadline_seconds = 30;
  now.pods[2] = Unplaced(now, Role::kEvaluator, 0);
  Follow(now);
  now.now += std::chrono::hours(5);
  const Plan plan = Follow(now);
  EXPECT_EQ(now.job.ledger->releases, 0);
  EXPECT_TRUE(StepsOf<DeletePod>(plan).empty());
  EXPECT_EQ(plan.status.state, JobState::kRunning);
  EXPECT_THAT(plan.status.message, HasSubstr("training does not wait for it"));
}

TEST(PendingDeadlineTest, NorForADynamicWorkerOfATfJob) {
  Snapshot now = StartedTfJob({.chiefs = 1, .workers = 2});
  now.job.spec.dynamic_worker = true;
  now.job.spec.pending_deadline_seconds = 30;
  now.pods = {PodOf(now, Role::kChief, 0), PodOf(now, Role::kWorker, 0),
              Unplaced(now, Role::kWorker, 1)};
  Follow(now);
  now.now += std::chrono::hours(5);
  Follow(now);
  EXPECT_EQ(now.job.ledger->releases, 0);
}

// Symptom: a worker was lost after three days, there was no spare node, and all the others were
// deleted every quarter of an hour.
TEST(PendingDeadlineTest, OnceAllHaveRunALostOneIsNoReasonToReleaseTheOthers) {
  Snapshot now = RunningJob({.chiefs = 1, .workers = 2});
  now.job.spec.pending_deadline_seconds = 30;
  Follow(now);
  EXPECT_EQ(now.job.ledger->ran_attempt, 1);
  now.now += std::chrono::hours(72);
  EntryOf(now, Role::kWorker, 1).pod_number = 2;
  now.pods[2] = Unplaced(now, Role::kWorker, 1, 2);
  Follow(now);
  now.now += std::chrono::hours(1);
  EXPECT_TRUE(Follow(now).steps.empty());
  EXPECT_EQ(now.job.ledger->releases, 0);
  EXPECT_FALSE(now.job.ledger->pending_since.has_value());
  // The next attempt has to find its places again.
  now.job.spec.suspend = true;
  Follow(now);
  now.job.spec.suspend = false;
  now.pods.clear();
  Follow(now);
  EXPECT_TRUE(now.job.ledger->pending_since.has_value());
}

TEST(PendingDeadlineTest, ARefusalOfTheApiServerIsTheReasonOfARelease) {
  Snapshot now = RunningJob({.workers = 2});
  now.job.spec.pending_deadline_seconds = 30;
  now.pods.pop_back();
  now.refusal = "create pod default/mnist-worker-1: exceeded quota";
  Follow(now);
  now.now += seconds(30);
  Follow(now);
  EXPECT_EQ(now.job.ledger->released_because, now.refusal);
}

TEST(PendingDeadlineTest, AReplicaThatWaitsForItsNextTryDoesNotWaitForANode) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.spec.pending_deadline_seconds = 30;
  EntryOf(now, Role::kWorker, 0).pod_number = 2;
  EntryOf(now, Role::kWorker, 0).not_before = now.now + minutes(5);
  EXPECT_FALSE(AdvanceLedger(now).ledger.pending_since.has_value());
}

TEST(TimeToLiveTest, TheJobIsDeletedToTheSecondAfterItsEnd) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.spec.ttl_seconds_after_finished = 100;
  now.job.ledger->outcome = JobState::kFailed;
  now.job.ledger->outcome_time = now.now;
  EXPECT_EQ(PlanJob(now).wake_at, now.now + seconds(100));
  EXPECT_TRUE(PlanJob(now).steps.empty());
  now.now += seconds(100);
  const auto deletes = StepsOf<DeleteJob>(PlanJob(now));
  ASSERT_EQ(deletes.size(), 1u);
  EXPECT_EQ(deletes[0].uid, "uid-1");
  EXPECT_EQ(deletes[0].resource_version, "10");
}

TEST(NonsenseTest, AnEditThatCannotBeFollowedLeavesARunningJobAsItIsAndSaysSo) {
  Snapshot now = RunningJob({.workers = 2});
  now.job.spec.roles[Role::kWorker].replicas = 0;
  Plan plan = PlanJob(now);
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_THAT(plan.status.message, HasSubstr("neither a chief nor a worker"));
  now.job.spec.roles[Role::kWorker].replicas = 4000;
  plan = PlanJob(now);
  EXPECT_TRUE(StepsOf<WriteLedger>(plan).empty());
  EXPECT_TRUE(StepsOf<CreatePod>(plan).empty());
  EXPECT_THAT(plan.status.message, HasSubstr("use fewer replicas"));
}

// Symptom: after `kubectl scale --replicas=4000` a running job never ended, restarted or suspended.
TEST(NonsenseTest, UnderAnEditThatCannotBeFollowedReplicasAreReplacedAndTheJobEnds) {
  for (const int32_t replicas : {0, 4000}) {
    Snapshot now = RunningJob({.ps = 1, .workers = 2});
    now.job.status = PlanJob(now).status;
    now.job.spec.roles[Role::kWorker].replicas = replicas;
    now.pods[2] = PodOf(now, Role::kWorker, 1, {.phase = PodPhase::kFailed, .exit_code = 137});
    EXPECT_EQ(StepsOf<DeletePod>(Follow(now)).size(), 1u);
    EXPECT_EQ(now.job.ledger->replicas.at(Role::kWorker).size(), 2u);
    now.gone = {now.pods[2]};
    now.pods.pop_back();
    const auto pods = StepsOf<CreatePod>(Follow(now));
    ASSERT_EQ(pods.size(), 1u);
    EXPECT_EQ(pods[0].pod.name, "mnist-worker-1");
    EXPECT_EQ(pods[0].pod.pod_number, 2);
    Complete(now, Role::kWorker, 0);
    EXPECT_EQ(Follow(now).wake_at, now.now + kTrainerFinishGrace);
    now.now += kTrainerFinishGrace;
    const Plan plan = Follow(now);
    EXPECT_EQ(now.job.ledger->outcome, JobState::kSucceeded);
    EXPECT_EQ(plan.status.message, "");
  }
}

TEST(NonsenseTest, UnderAnEditThatCannotBeFollowedDeadlinesAndSuspensionHold) {
  Snapshot now = RunningJob({.workers = 2});
  now.job.spec.roles[Role::kWorker].replicas = 4000;
  now.job.spec.active_deadline_seconds = 60;
  const Clock::WallTime deadline = *now.job.ledger->start_time + seconds(60);
  EXPECT_EQ(PlanJob(now).wake_at, deadline);
  Snapshot suspended = now;
  suspended.job.spec.suspend = true;
  EXPECT_EQ(StepsOf<DeletePod>(Follow(suspended)).size(), 2u);
  EXPECT_EQ(PlanJob(suspended).status.state, JobState::kSuspended);
  now.now = deadline;
  Follow(now);
  EXPECT_EQ(now.job.ledger->outcome_reason, "DeadlineExceeded");
}

TEST(NonsenseTest, OfARoleThatTheEditRemovedNoPodIsMade) {
  Snapshot now = RunningJob({.ps = 1, .workers = 1});
  now.job.status = PlanJob(now).status;
  now.job.spec.roles.erase(Role::kWorker);
  now.gone = {now.pods[1]};
  now.pods.pop_back();
  EXPECT_TRUE(StepsOf<CreatePod>(Follow(now)).empty());
  EXPECT_EQ(now.job.ledger->restarts.at(RestartCause::kPreempted), 1);
}

TEST(ScopeTest, NodesDoNotRestartContainersWhereAllReplicasStartTogether) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.spec.roles[Role::kWorker].restart_policy = RestartPolicy::kOnFailure;
  EXPECT_EQ(StepsOf<CreatePod>(PlanJob(now)).at(0).pod.restart_policy, "OnFailure");
  now.job.spec.restart_scope = RestartScope::kJob;
  EXPECT_EQ(StepsOf<CreatePod>(PlanJob(now)).at(0).pod.restart_policy, "Never");
}

// Symptom: with backoffLimit 0 the only pod was deleted with its log when its program had failed.
TEST(ScopeTest, APodOfTheLastTryIsNotStartedAgainByItsNodeSoThatItStaysWithItsLog) {
  for (const JobKind kind : {JobKind::kTrainingJob, JobKind::kTfJob}) {
    Snapshot now = kind == JobKind::kTfJob ? StartedTfJob({.workers = 1})
                                           : StartedJob({.workers = 1});
    now.job.spec.bundled_trainer = false;
    now.job.spec.roles[Role::kWorker].restart_policy = RestartPolicy::kOnFailure;
    now.job.spec.backoff_limit = 3;
    EXPECT_EQ(StepsOf<CreatePod>(PlanJob(now)).at(0).pod.restart_policy, "OnFailure");
    now.job.spec.backoff_limit = 0;
    EXPECT_EQ(StepsOf<CreatePod>(PlanJob(now)).at(0).pod.restart_policy, "Never");
    now.job.spec.clean_pod_policy = CleanPodPolicy::kNone;
    now.pods = {PodOf(now, Role::kWorker, 0, {.phase = PodPhase::kFailed, .exit_code = 1})};
    const Plan plan = Follow(now);
    EXPECT_EQ(now.job.ledger->outcome_reason, "BackoffLimitExceeded");
    EXPECT_TRUE(StepsOf<DeletePod>(plan).empty());
  }
}

// Symptom: the deadline of a job that had never found a node passed, and the end told no reason.
TEST(ActiveDeadlineTest, TheEndSaysWhatWasInTheWay) {
  Snapshot now = RunningJob({.workers = 2});
  now.job.spec.active_deadline_seconds = 60;
  now.pods[1].phase = PodPhase::kPending;
  now.pods[1].unschedulable_reason = "Unschedulable";
  now.now += seconds(61);
  EXPECT_THAT(AdvanceLedger(now).ledger.outcome_message,
              HasSubstr("; at its end worker-1 cannot be scheduled: Unschedulable"));
}

// Symptom: a worker that was scaled away and wanted again showed as restarting.
TEST(ScaleTest, AReplicaThatIsScaledAwayAndWantedAgainIsNoRestart) {
  Snapshot now = RunningJob({.workers = 3});
  EntryOf(now, Role::kWorker, 2).quick_failures = 5;
  now.job.spec.roles[Role::kWorker].replicas = 2;
  Follow(now);
  now.pods.pop_back();
  now.job.spec.roles[Role::kWorker].replicas = 3;
  const Plan plan = Follow(now);
  ASSERT_EQ(StepsOf<CreatePod>(plan).size(), 1u);
  EXPECT_EQ(plan.status.state, JobState::kRunning);
  EXPECT_EQ(EntryOf(now, Role::kWorker, 2).first_pod, 2);
  EXPECT_EQ(EntryOf(now, Role::kWorker, 2).quick_failures, 0);
}

// Symptom: the pod of an evaluator that had failed for good was started again and again.
TEST(FailedForGoodTest, APodThatItsNodeWouldStartAgainGoesAndOneThatHasEndedStays) {
  Snapshot now = RunningJob({.chiefs = 1, .evaluators = 1});
  EntryOf(now, Role::kEvaluator, 0).failed = true;
  now.pods[1].restart_count = 7;
  EntryOf(now, Role::kEvaluator, 0).restarts_in_place = 7;
  const auto deletes = StepsOf<DeletePod>(PlanJob(now));
  ASSERT_EQ(deletes.size(), 1u);
  EXPECT_EQ(deletes[0].name, "mnist-evaluator-0");
  now.pods[1].phase = PodPhase::kFailed;
  EXPECT_TRUE(PlanJob(now).steps.empty());
}

// Symptom: a pod whose sidecar ran on stayed after the end of its job.
TEST(SidecarTest, APodWhoseSidecarRunsOnIsNotReadyAndGoesAtTheEnd) {
  Snapshot now = RunningJob({.workers = 1});
  now.pods[0].exit_code = 0;
  now.pods[0].container_ended = true;
  EntryOf(now, Role::kWorker, 0).completed = true;
  now.job.ledger->outcome = JobState::kSucceeded;
  const Plan plan = PlanJob(now);
  EXPECT_EQ(StepsOf<DeletePod>(plan).size(), 1u);
  EXPECT_EQ(plan.status.replica_statuses.at(Role::kWorker).ready, 0);
}

TEST(ScaleTest, ACompletedReplicaThatIsScaledAwayLosesItsPodAndNeverRunsAgain) {
  Snapshot now = RunningJob({.workers = 2});
  Complete(now, Role::kWorker, 1);
  Follow(now);
  now.job.spec.roles[Role::kWorker].replicas = 1;
  EXPECT_EQ(StepsOf<DeletePod>(Follow(now)).size(), 1u);
  now.pods.pop_back();
  now.job.spec.roles[Role::kWorker].replicas = 2;
  EXPECT_TRUE(StepsOf<CreatePod>(Follow(now)).empty());
}

TEST(StatusTest, GpusAreThoseOfThePodsThatHaveNotEnded) {
  Snapshot now = RunningJob({.ps = 1, .workers = 3});
  now.job.spec.roles[Role::kWorker].gpus = 4;
  Complete(now, Role::kWorker, 2);
  EXPECT_EQ(PlanJob(now).status.gpus, 8);
}

}  // namespace
}  // namespace taas
