// What the ends of pods and containers do to the ledger under each restart policy.

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/plan/ledger.h"
#include "operator/plan/plan_fixture.h"

namespace taas {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using Restarts = std::map<RestartCause, int32_t>;

Pod Ended(const Snapshot& now, Role role, int32_t index, int32_t exit_code) {
  return PodOf(now, role, index,
               {.phase = exit_code == 0 ? PodPhase::kSucceeded : PodPhase::kFailed,
                .exit_code = exit_code});
}

// Its node has started the container again, `times` times in all.
Pod StartedAgain(const Snapshot& now, Role role, int32_t index, int32_t times, int32_t exit_code) {
  Pod pod = PodOf(now, role, index);
  pod.restart_count = times;
  pod.last_exit_code = exit_code;
  return pod;
}

Snapshot JobOf(RestartPolicy policy, JobShape shape = {.ps = 1, .workers = 2}) {
  Snapshot now = StartedJob(shape);
  now.job.spec.bundled_trainer = false;
  for (auto& [role, spec] : now.job.spec.roles) {
    spec.restart_policy = policy;
    for (int32_t i = 0; i < spec.replicas; ++i) now.pods.push_back(PodOf(now, role, i));
  }
  return now;
}

enum class Fate { kCompleted, kNextPod, kJobFailed };
struct MatrixCase {
  const char* name;
  RestartPolicy policy;
  int32_t exit_code;
  Fate want;
};
class RestartMatrixTest : public testing::TestWithParam<MatrixCase> {};
TEST_P(RestartMatrixTest, SaysWhatBecomesOfAPsWhosePodHasEnded) {
  const MatrixCase& c = GetParam();
  Snapshot now = JobOf(c.policy);
  now.pods[0] = Ended(now, Role::kPs, 0, c.exit_code);
  const Ledger ledger = AdvanceLedger(now).ledger;
  const LedgerReplica& entry = ledger.replicas.at(Role::kPs).at(0);
  EXPECT_EQ(entry.completed, c.want == Fate::kCompleted);
  EXPECT_EQ(entry.pod_number, c.want == Fate::kNextPod ? 2 : 1);
  EXPECT_EQ(entry.failed, c.want == Fate::kJobFailed);
  EXPECT_EQ(ledger.outcome.has_value(), c.want == Fate::kJobFailed);
}
INSTANTIATE_TEST_SUITE_P(
    Table, RestartMatrixTest,
    testing::Values(MatrixCase{"Always0", RestartPolicy::kAlways, 0, Fate::kNextPod},
                    MatrixCase{"Always1", RestartPolicy::kAlways, 1, Fate::kNextPod},
                    MatrixCase{"OnFailure0", RestartPolicy::kOnFailure, 0, Fate::kCompleted},
                    MatrixCase{"OnFailure1", RestartPolicy::kOnFailure, 1, Fate::kNextPod},
                    MatrixCase{"Never0", RestartPolicy::kNever, 0, Fate::kCompleted},
                    MatrixCase{"Never1", RestartPolicy::kNever, 1, Fate::kJobFailed},
                    MatrixCase{"Never137", RestartPolicy::kNever, 137, Fate::kJobFailed},
                    MatrixCase{"ExitCode0", RestartPolicy::kExitCode, 0, Fate::kCompleted},
                    MatrixCase{"ExitCode1", RestartPolicy::kExitCode, 1, Fate::kJobFailed},
                    MatrixCase{"ExitCode130", RestartPolicy::kExitCode, 130, Fate::kNextPod}),
    [](const auto& info) { return std::string(info.param.name); });

class TakenAwayTest : public testing::TestWithParam<RestartPolicy> {};
TEST_P(TakenAwayTest, APodThatWasTakenAwayHasASuccessorUnderEveryPolicy) {
  Snapshot now = JobOf(GetParam(), {.ps = 1, .workers = 4});
  now.pods[1] = Ended(now, Role::kWorker, 0, 1);
  now.pods[1].disrupted = true;
  now.pods[2].meta.deletion_time = now.now;
  now.pods[3].node_lost = true;
  now.pods[4] = Ended(now, Role::kWorker, 3, 1);
  now.pods[4].reason = "Evicted";
  now.gone = {now.pods[0]};
  now.pods.erase(now.pods.begin());
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_FALSE(ledger.outcome.has_value());
  EXPECT_EQ(ledger.restarts,
            (Restarts{{RestartCause::kPreempted, 4}, {RestartCause::kNodeLost, 1}}));
}
INSTANTIATE_TEST_SUITE_P(Policies, TakenAwayTest,
                         testing::Values(RestartPolicy::kAlways, RestartPolicy::kOnFailure,
                                         RestartPolicy::kNever, RestartPolicy::kExitCode),
                         [](const auto& info) {
                           return std::string(RestartPolicyName(info.param));
                         });

TEST(RestartsInPlaceTest, AreCountedOnceByTheCauseOfTheLast) {
  Snapshot now = JobOf(RestartPolicy::kOnFailure);
  now.pods[1] = StartedAgain(now, Role::kWorker, 0, 2, 1);
  now.pods[2] = StartedAgain(now, Role::kWorker, 1, 1, 137);
  now.pods[2].last_exit_reason = "OOMKilled";
  now.job.ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(now.job.ledger->restarts,
            (Restarts{{RestartCause::kUserError, 2}, {RestartCause::kOutOfMemory, 1}}));
  EXPECT_EQ(EntryOf(now, Role::kWorker, 0).restarts_in_place, 2);
  EXPECT_EQ(EntryOf(now, Role::kWorker, 0).pod_number, 1);
  EXPECT_EQ(AdvanceLedger(now).ledger, *now.job.ledger);
}

TEST(RestartsInPlaceTest, UseUpTheBudgetAndTheNextPodBeginsAtNone) {
  Snapshot now = JobOf(RestartPolicy::kAlways);
  now.job.spec.backoff_limit = 2;
  now.pods[1] = StartedAgain(now, Role::kWorker, 0, 2, 1);
  now.job.ledger = AdvanceLedger(now).ledger;
  EXPECT_FALSE(now.job.ledger->outcome.has_value());
  Snapshot replaced = now;
  replaced.gone = {replaced.pods[1]};
  replaced.pods.erase(replaced.pods.begin() + 1);
  EXPECT_EQ(AdvanceLedger(replaced).ledger.replicas.at(Role::kWorker).at(0).restarts_in_place, 0);
  now.pods[1] = StartedAgain(now, Role::kWorker, 0, 3, 1);
  EXPECT_EQ(AdvanceLedger(now).ledger.outcome_reason, "BackoffLimitExceeded");
}

TEST(RestartsInPlaceTest, AnEndWithoutFailureUnderAlwaysIsNotCounted) {
  Snapshot now = JobOf(RestartPolicy::kAlways);
  now.job.spec.backoff_limit = 0;
  now.pods[2] = StartedAgain(now, Role::kWorker, 1, 5, 0);
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_TRUE(ledger.restarts.empty());
  EXPECT_FALSE(ledger.outcome.has_value());
  EXPECT_FALSE(ledger.replicas.at(Role::kWorker).at(1).completed);
}

// Symptom: a chief of policy Always was started again and again after the end of the training.
TEST(RestartsInPlaceTest, TheBundledTrainersExitCode0IsItsCompletion) {
  Snapshot now = JobOf(RestartPolicy::kAlways, {.chiefs = 1});
  now.job.spec.bundled_trainer = true;
  now.pods[0] = StartedAgain(now, Role::kChief, 0, 1, 0);
  EXPECT_TRUE(AdvanceLedger(now).ledger.replicas.at(Role::kChief).at(0).completed);
}

TEST(RestartsInPlaceTest, ANonsenseCountIsCountedUpToALimit) {
  Snapshot now = JobOf(RestartPolicy::kOnFailure);
  now.job.spec.backoff_limit.reset();
  now.pods[1] = StartedAgain(now, Role::kWorker, 0, 2'000'000'000, 1);
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.restarts.at(RestartCause::kUserError), 1000);
  EXPECT_EQ(ledger.replicas.at(Role::kWorker).at(0).restarts_in_place, 2'000'000'000);
}

TEST(BudgetTest, RecreatedPodsUseItUpAndWithoutALimitNothingDoes) {
  Snapshot now = JobOf(RestartPolicy::kExitCode);
  now.job.spec.exit_codes.retryable = {1};
  now.job.spec.backoff_limit = 1;
  now.job.ledger->restarts[RestartCause::kUserError] = 1;
  now.pods[1] = Ended(now, Role::kWorker, 0, 1);
  EXPECT_EQ(AdvanceLedger(now).ledger.outcome_reason, "BackoffLimitExceeded");
  now.job.spec.backoff_limit.reset();
  EXPECT_FALSE(AdvanceLedger(now).ledger.outcome.has_value());
}

TEST(BudgetTest, ATfJobsIsUsedUpWhenItsRestartsReachItWhateverKilledTheProgram) {
  Snapshot now = StartedTfJob({.workers = 4});
  now.job.spec.backoff_limit = 4;
  now.job.spec.roles[Role::kWorker].restart_policy = RestartPolicy::kOnFailure;
  for (int32_t i = 0; i < 4; ++i) {
    now.pods.push_back(StartedAgain(now, Role::kWorker, i, 1, i < 2 ? 1 : 137));
  }
  const LedgerChange change = AdvanceLedger(now);
  EXPECT_EQ(change.ledger.outcome, JobState::kFailed);
  EXPECT_THAT(change.notes.back().message,
              HasSubstr("Job mnist has failed because it has reached the specified backoff limit: "
                        "worker-3 failed again after 3 restarts by failure (of the whole job: the "
                        "last was of worker-2), and"));
  now.pods.pop_back();
  EXPECT_FALSE(AdvanceLedger(now).ledger.outcome.has_value());
}

// Symptom: an evaluator that failed now and then left the training no restart of its own.
TEST(BudgetTest, WhatAnEvaluatorUsesUpIsItsOwn) {
  Snapshot now = JobOf(RestartPolicy::kOnFailure, {.chiefs = 1, .evaluators = 1});
  now.job.spec.backoff_limit = 2;
  now.pods[1] = StartedAgain(now, Role::kEvaluator, 0, 2, 1);
  now.job.ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(now.job.ledger->restarts, (Restarts{{RestartCause::kUserError, 2}}));
  now.pods[0] = StartedAgain(now, Role::kChief, 0, 2, 1);
  now.job.ledger = AdvanceLedger(now).ledger;
  EXPECT_FALSE(now.job.ledger->outcome.has_value());
  Snapshot evaluator = now;
  evaluator.pods[1] = StartedAgain(now, Role::kEvaluator, 0, 3, 1);
  evaluator.job.ledger = AdvanceLedger(evaluator).ledger;
  EXPECT_TRUE(EntryOf(evaluator, Role::kEvaluator, 0).failed);
  EXPECT_FALSE(evaluator.job.ledger->outcome.has_value());
  now.pods[0] = StartedAgain(now, Role::kChief, 0, 3, 1);
  EXPECT_EQ(AdvanceLedger(now).ledger.outcome_reason, "BackoffLimitExceeded");
}

// Symptom: after its ledger was lost a job failed, because the evaluator's restarts and those that
// nodes had made were charged to the training, the latter twice.
TEST(BudgetTest, ALostLedgerComesBackWithWhatEachHasUsed) {
  Snapshot now = JobOf(RestartPolicy::kOnFailure, {.chiefs = 1, .evaluators = 1});
  now.job.spec.backoff_limit = 2;
  now.pods[0] = StartedAgain(now, Role::kChief, 0, 1, 1);
  now.pods[1] = StartedAgain(now, Role::kEvaluator, 0, 2, 1);
  now.job.ledger = AdvanceLedger(now).ledger;
  const Ledger kept = *now.job.ledger;
  now.job.status.restarts = kept.restarts;
  now.job.status.history = kept.history;
  now.job.ledger.reset();
  now.job.ledger = AdvanceLedger(now).ledger;
  EXPECT_FALSE(now.job.ledger->outcome.has_value());
  EXPECT_EQ(now.job.ledger->restarts, kept.restarts);
  EXPECT_EQ(now.job.ledger->replicas, kept.replicas);
  // Each has its own limit as before.
  Snapshot evaluator = now;
  evaluator.pods[1] = StartedAgain(now, Role::kEvaluator, 0, 3, 1);
  EXPECT_TRUE(AdvanceLedger(evaluator).ledger.replicas.at(Role::kEvaluator).at(0).failed);
  now.pods[0] = StartedAgain(now, Role::kChief, 0, 2, 1);
  EXPECT_FALSE(AdvanceLedger(now).ledger.outcome.has_value());
  now.pods[0] = StartedAgain(now, Role::kChief, 0, 3, 1);
  EXPECT_EQ(AdvanceLedger(now).ledger.outcome_reason, "BackoffLimitExceeded");
}

// Symptom: an end that had been counted, of a pod that was still there, was counted once more.
TEST(BudgetTest, ALostLedgerDoesNotCountAnEndTwice) {
  Snapshot now = JobOf(RestartPolicy::kExitCode, {.chiefs = 1});
  now.job.spec.backoff_limit = 1;
  now.pods[0] = Ended(now, Role::kChief, 0, 138);
  const Ledger kept = AdvanceLedger(now).ledger;
  EXPECT_EQ(kept.restarts, (Restarts{{RestartCause::kUserError, 1}}));
  now.job.status.restarts = kept.restarts;
  now.job.status.history = kept.history;
  now.job.ledger.reset();
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.restarts, kept.restarts);
  EXPECT_FALSE(ledger.outcome.has_value());
  EXPECT_EQ(ledger.replicas.at(Role::kChief).at(0).pod_number, 2);
}

TEST(BudgetTest, WhereTheStatusIsLostTooTheRestartsOfItsPodAreCountedOnce) {
  Snapshot now = JobOf(RestartPolicy::kOnFailure, {.chiefs = 1});
  now.job.spec.backoff_limit = 2;
  now.pods[0] = StartedAgain(now, Role::kChief, 0, 2, 1);
  now.job.ledger.reset();
  now.job.ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(now.job.ledger->restarts, (Restarts{{RestartCause::kUserError, 2}}));
  now.pods[0] = StartedAgain(now, Role::kChief, 0, 3, 1);
  EXPECT_EQ(AdvanceLedger(now).ledger.outcome_reason, "BackoffLimitExceeded");
}

// Symptoms: a pod that its node turned away was made again as fast as the server took it; and where
// the node's reason was on no list (TopologyAffinityError of a GPU node) the job failed for good.
TEST(RestartTest, APodThatItsNodeTurnsAwayIsMadeAgainLaterEachTimeAndIsNoUserError) {
  for (const std::string reason : {"OutOfcpu", "TopologyAffinityError", "SysctlForbidden",
                                   "VolumeAttachmentLimitExceeded", "InvalidNodeInfo",
                                   "UnexpectedPredicateFailureType", "NodePorts", "OfNextYear"}) {
    SCOPED_TRACE(reason);
    Snapshot now = JobOf(RestartPolicy::kNever, {.workers = 1});
    now.job.spec.backoff_limit = 0;
    for (int round = 1; round <= 3; ++round) {
      SCOPED_TRACE(round);
      Pod pod = PodOf(now, Role::kWorker, 0, {.phase = PodPhase::kFailed, .number = round});
      pod.started_at.reset();
      pod.finished_at.reset();
      pod.reason = reason;
      pod.message = "Pod was rejected: Node didn't have enough resource: cpu";
      now.pods = {pod};
      now.job.ledger = AdvanceLedger(now).ledger;
      const LedgerReplica& entry = EntryOf(now, Role::kWorker, 0);
      EXPECT_EQ(entry.pod_number, round + 1);
      EXPECT_EQ(entry.quick_failures, round);
      EXPECT_EQ(entry.not_before.has_value(), round > 1);
      EXPECT_THAT(now.job.ledger->history.back().message, HasSubstr(reason + ": Pod was rejected"));
    }
    EXPECT_EQ(now.job.ledger->restarts, (Restarts{{RestartCause::kPreempted, 3}}));
    EXPECT_FALSE(now.job.ledger->outcome.has_value());
  }
}

// The pod's own deadline is the user's word, not the node's.
TEST(RestartTest, APodWhoseOwnDeadlinePassedBeforeItStartedWasNotTurnedAway) {
  Snapshot now = JobOf(RestartPolicy::kNever, {.workers = 1});
  now.pods[0] = PodOf(now, Role::kWorker, 0, {.phase = PodPhase::kFailed});
  now.pods[0].started_at.reset();
  now.pods[0].finished_at.reset();
  now.pods[0].reason = "DeadlineExceeded";
  EXPECT_EQ(AdvanceLedger(now).ledger.outcome, JobState::kFailed);
}

// A pod whose init container `fetch` ended with `code`; its main container never started.
Pod WithFailedInit(const Snapshot& now, Role role, int32_t index, int32_t code) {
  Pod pod = PodOf(now, role, index, {.phase = PodPhase::kFailed});
  pod.started_at.reset();
  pod.finished_at.reset();
  pod.started = true;
  pod.init = std::make_shared<InitContainer>(
      InitContainer{.name = "fetch",
                    .exit_code = code,
                    .exit_reason = "Error",
                    .termination_message = "resolving\ncurl: (6) no such host\n"});
  return pod;
}

// Symptom: of a pod whose init container had failed the job said that it "ended without an exit
// code".
TEST(InitContainerTest, ItsExitCodeIsJudgedAsTheMainContainersAndQuotedWithItsLastWords) {
  Snapshot now = JobOf(RestartPolicy::kExitCode, {.workers = 2});
  now.pods[1] = WithFailedInit(now, Role::kWorker, 1, 6);
  Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.outcome, JobState::kFailed);
  EXPECT_EQ(ledger.outcome_message,
            "worker-1 failed for good: init container fetch: exit code 6: curl: (6) no such host "
            "(after: resolving)");
  now.pods[1] = WithFailedInit(now, Role::kWorker, 1, 137);
  ledger = AdvanceLedger(now).ledger;
  EXPECT_FALSE(ledger.outcome.has_value());
  EXPECT_EQ(ledger.restarts, (Restarts{{RestartCause::kKilled, 1}}));
  EXPECT_EQ(ledger.history.back().exit_code, 137);
  EXPECT_THAT(ledger.history.back().message, HasSubstr("init container fetch: exit code 137"));
}

// The bundled trainer's exit codes say nothing of another program.
TEST(InitContainerTest, ItsCodesAreThoseOfAnOwnProgram) {
  Snapshot now = JobOf(RestartPolicy::kExitCode, {.workers = 1});
  now.job.spec.bundled_trainer = true;
  now.pods[0] = WithFailedInit(now, Role::kWorker, 0, 3);
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.outcome, JobState::kFailed);
  EXPECT_TRUE(ledger.bad_nodes.empty());
}

// Symptom: a job whose init container crashed again and again was "starting" for ever, whatever its
// backoffLimit.
TEST(InitContainerTest, StartsThatItsNodeMakesUseUpTheBudget) {
  Snapshot now = JobOf(RestartPolicy::kOnFailure, {.workers = 1});
  now.job.spec.backoff_limit = 2;
  for (int32_t restarts = 1; restarts <= 3; ++restarts) {
    Pod& pod = now.pods[0];
    pod.phase = PodPhase::kPending;
    pod.restart_count = restarts;
    pod.init = std::make_shared<InitContainer>(InitContainer{.name = "fetch",
                                                             .waiting_reason = "CrashLoopBackOff",
                                                             .restart_count = restarts,
                                                             .last_exit_code = 22,
                                                             .last_exit_reason = "Error"});
    now.job.ledger = AdvanceLedger(now).ledger;
    EXPECT_EQ(now.job.ledger->outcome.has_value(), restarts == 3);
  }
  EXPECT_EQ(now.job.ledger->outcome_message,
            "worker-0 failed again after 2 restarts by user error, and backoffLimit is 2: init "
            "container fetch: exit code 22");
}

// Symptoms: "failed again after 0 restarts", and "after 1 restarts".
TEST(BudgetTest, ItIsSaidInWordsHowOftenWasTried) {
  const auto message_of = [](int32_t limit) {
    Snapshot now = JobOf(RestartPolicy::kOnFailure, {.workers = 1});
    now.job.spec.backoff_limit = limit;
    now.pods[0] = StartedAgain(now, Role::kWorker, 0, limit + 1, 1);
    return AdvanceLedger(now).ledger.outcome_message;
  };
  EXPECT_EQ(message_of(0), "worker-0 failed, and backoffLimit is 0: exit code 1");
  EXPECT_THAT(message_of(1), HasSubstr("failed again after 1 restart by user error, and"));
  EXPECT_THAT(message_of(2), HasSubstr("failed again after 2 restarts by user error, and"));
}

// Symptom: a pod that the scheduler preempted was said to be "deleted or drained".
TEST(RestartTest, ByWhomAPodWasTakenAwayIsSaid) {
  const auto why = [](const std::string& words) {
    Snapshot now = JobOf(RestartPolicy::kOnFailure, {.workers = 1});
    Pod& pod = now.pods.back();
    pod.meta.deletion_time = now.now + std::chrono::seconds(30);
    pod.disrupted = !words.empty();
    pod.message = words;
    return AdvanceLedger(now).ledger.history.back().message;
  };
  EXPECT_EQ(why(""), "its pod was deleted or drained");
  EXPECT_EQ(why("PreemptionByScheduler: default-scheduler: preempting to accommodate a higher "
                "priority pod"),
            "its pod was preempted by the scheduler for one of higher priority");
  EXPECT_EQ(why("EvictionByEvictionAPI: Eviction API: evicting"),
            "its pod was taken away: EvictionByEvictionAPI: Eviction API: evicting");
}

// Symptom: a replica that was killed for its memory did not say what to raise.
TEST(RestartTest, AnEndForWantOfMemoryNamesTheFieldThatBoundsIt) {
  Snapshot now = JobOf(RestartPolicy::kOnFailure, {.workers = 1});
  now.job.spec.roles[Role::kWorker].resources = R"({"limits": {"memory": "40Mi"}})";
  Pod& pod = now.pods.back();
  pod.phase = PodPhase::kFailed;
  pod.exit_code = 137;
  pod.exit_reason = "OOMKilled";
  EXPECT_EQ(AdvanceLedger(now).ledger.history.back().message,
            "exit code 137 (OOMKilled): limit 40Mi: raise "
            "spec.roles.worker.resources.limits.memory");
}

// Symptom: that a replica ran out of memory was told by no event.
TEST(RestartTest, AnEndForWantOfMemoryIsNotedOnceInALook) {
  Snapshot now = JobOf(RestartPolicy::kOnFailure, {.workers = 2});
  now.pods[1] = StartedAgain(now, Role::kWorker, 1, 3, 137);
  now.pods[1].last_exit_reason = "OOMKilled";
  now.job.spec.roles[Role::kWorker].resources = R"({"limits": {"memory": "40Mi"}})";
  const LedgerChange change = AdvanceLedger(now);
  int told = 0;
  for (const LedgerNote& note : change.notes) {
    if (note.reason != "OOMKilled") continue;
    ++told;
    EXPECT_TRUE(note.warning);
    EXPECT_TRUE(note.recurs);
    EXPECT_EQ(note.message,
              "worker-1 ran out of memory: exit code 137 (OOMKilled): limit 40Mi: raise "
              "spec.roles.worker.resources.limits.memory");
  }
  EXPECT_EQ(told, 1);
}

// Symptom: the only node of a cluster was forbidden to a replica for ever after one exit code 3.
TEST(BadNodeTest, ItIsAvoidedByAllForAWhileAndTheOldestAreForgotten) {
  Snapshot now = JobOf(RestartPolicy::kExitCode, {.ps = 1, .workers = 1});
  now.job.spec.bundled_trainer = true;
  for (size_t i = 0; i < kBadNodesMax; ++i) {
    now.job.ledger->bad_nodes.push_back({"node-" + std::to_string(i), now.now - seconds(1)});
  }
  now.job.ledger->bad_nodes[3] = {"old", now.now - kBadNodeTime};
  now.pods[1] = Ended(now, Role::kWorker, 0, 3);
  now.job.ledger = AdvanceLedger(now).ledger;
  ASSERT_EQ(now.job.ledger->bad_nodes.size(), kBadNodesMax);
  EXPECT_EQ(now.job.ledger->bad_nodes.back(), (BadNode{"node-a", now.now}));
  EXPECT_EQ(now.job.ledger->bad_nodes[3].name, "node-4");
  // The same once more is one.
  now.pods[1] = PodOf(now, Role::kWorker, 0, {.phase = PodPhase::kFailed, .number = 2,
                                              .exit_code = 3});
  now.now += seconds(5);
  now.job.ledger = AdvanceLedger(now).ledger;
  ASSERT_EQ(now.job.ledger->bad_nodes.size(), kBadNodesMax);
  EXPECT_EQ(now.job.ledger->bad_nodes.back(), (BadNode{"node-a", now.now}));
}

TEST(BudgetTest, ADynamicWorkersFailuresAreNotChargedToTheTraining) {
  Snapshot now = StartedTfJob({.workers = 3});
  now.job.spec.dynamic_worker = true;
  now.job.spec.backoff_limit = 3;
  now.job.spec.roles[Role::kWorker].restart_policy = RestartPolicy::kOnFailure;
  now.pods = {StartedAgain(now, Role::kWorker, 0, 1, 1), StartedAgain(now, Role::kWorker, 1, 2, 1),
              StartedAgain(now, Role::kWorker, 2, 2, 137)};
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_FALSE(ledger.outcome.has_value());
  EXPECT_FALSE(ledger.replicas.at(Role::kWorker).at(2).failed);
}

// Symptom: a process whose port was taken failed for ever where its node starts it again.
TEST(RestartsInPlaceTest, OnTheLocalClusterATakenPortIsExchangedInANewPodAndCountedOnce) {
  Snapshot now = JobOf(RestartPolicy::kOnFailure, {.workers = 2});
  now.addresses.scheme = AddressScheme::kLoopback;
  now.free_ports = {2001, 2002};
  for (int32_t i = 0; i < 2; ++i) {
    EntryOf(now, Role::kWorker, i).port = 1001 + 10 * i;
    EntryOf(now, Role::kWorker, i).status_port = 1002 + 10 * i;
  }
  now.pods[1] = StartedAgain(now, Role::kWorker, 1, 1, 138);
  for (Pod& pod : now.pods) pod.bootstrap = "127.0.0.1:1001";
  const Ledger ledger = AdvanceLedger(now).ledger;
  const LedgerReplica& entry = ledger.replicas.at(Role::kWorker).at(1);
  EXPECT_EQ(entry.pod_number, 2);
  EXPECT_EQ(entry.port, 2001);
  EXPECT_EQ(entry.status_port, 2002);
  EXPECT_EQ(entry.restarts_in_place, 0);
  EXPECT_EQ(ledger.restarts, (Restarts{{RestartCause::kUserError, 1}}));
  EXPECT_EQ(ledger.replicas.at(Role::kWorker).at(0).pod_number, 1);
  now.addresses.scheme = AddressScheme::kDns;
  EXPECT_EQ(AdvanceLedger(now).ledger.replicas.at(Role::kWorker).at(1).pod_number, 1);
}

// Symptom: beside a sidecar the main container's end was not seen, and the pod ran for ever.
TEST(SidecarTest, TheEndOfTheMainContainerIsTheReplicas) {
  Snapshot now = JobOf(RestartPolicy::kExitCode, {.chiefs = 1, .workers = 2});
  now.pods[1].exit_code = 0;
  now.pods[2].exit_code = 137;
  now.pods[1].container_ended = true;
  now.pods[2].container_ended = true;
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_TRUE(ledger.replicas.at(Role::kWorker).at(0).completed);
  EXPECT_EQ(ledger.replicas.at(Role::kWorker).at(1).pod_number, 2);
  EXPECT_EQ(ledger.restarts, (Restarts{{RestartCause::kKilled, 1}}));
}

// Symptom: workers waited for a chief that had completed, and were made again without an end.
TEST(WaitingTest, NobodyWaitsForAChiefThatHasCompleted) {
  Snapshot now = JobOf(RestartPolicy::kExitCode, {.chiefs = 1, .workers = 1});
  now.job.spec.success_policy = SuccessPolicy::kAllWorkers;
  EntryOf(now, Role::kChief, 0).completed = true;
  now.pods = {Ended(now, Role::kWorker, 0, 138)};
  EXPECT_EQ(AdvanceLedger(now).ledger.restarts, (Restarts{{RestartCause::kUserError, 1}}));
}

TEST(WaitingTest, WhoeverGaveUpWaitingForTheChiefIsNotFailedByPolicyNever) {
  Snapshot now = JobOf(RestartPolicy::kNever, {.chiefs = 1, .workers = 1});
  now.pods[0].phase = PodPhase::kPending;
  now.pods[1] = Ended(now, Role::kWorker, 0, 138);
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_FALSE(ledger.outcome.has_value());
  EXPECT_TRUE(ledger.restarts.empty());
  EXPECT_EQ(ledger.replicas.at(Role::kWorker).at(0).pod_number, 2);
}

TEST(RestartScopeTest, OneFailureOfTheJobsScopeStartsTheNextAttemptOfAllTogether) {
  Snapshot now = JobOf(RestartPolicy::kExitCode, {.chiefs = 1, .ps = 1, .workers = 3,
                                                  .evaluators = 1});
  now.job.spec.restart_scope = RestartScope::kJob;
  EntryOf(now, Role::kWorker, 1).quick_failures = 3;
  EntryOf(now, Role::kWorker, 2).completed = true;
  now.pods[3] = Ended(now, Role::kWorker, 1, 137);
  now.pods[2] = Ended(now, Role::kWorker, 0, 143);  // It fell with the other.
  now.pods[4] = Ended(now, Role::kWorker, 2, 0);
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.attempt, 2);
  EXPECT_EQ(ledger.restarts, (Restarts{{RestartCause::kKilled, 1}}));
  EXPECT_EQ(ledger.replicas.at(Role::kChief).at(0).pod_number, 2);
  EXPECT_EQ(ledger.replicas.at(Role::kPs).at(0).pod_number, 2);
  EXPECT_EQ(ledger.replicas.at(Role::kWorker).at(0).pod_number, 2);
  EXPECT_EQ(ledger.replicas.at(Role::kWorker).at(1).pod_number, 2);
  EXPECT_EQ(ledger.replicas.at(Role::kWorker).at(2).pod_number, 1);
  EXPECT_EQ(ledger.replicas.at(Role::kEvaluator).at(0).pod_number, 1);
}

TEST(RestartScopeTest, AllWaitForTheDelayOfTheOneThatFailed) {
  Snapshot now = JobOf(RestartPolicy::kExitCode, {.chiefs = 1, .workers = 1});
  now.job.spec.restart_scope = RestartScope::kJob;
  EntryOf(now, Role::kWorker, 0).quick_failures = 3;
  now.pods[1] = Ended(now, Role::kWorker, 0, 137);
  const Ledger ledger = AdvanceLedger(now).ledger;
  EXPECT_EQ(ledger.replicas.at(Role::kChief).at(0).not_before, now.now + seconds(4));
  EXPECT_EQ(ledger.replicas.at(Role::kWorker).at(0).not_before, now.now + seconds(4));
}

TEST(HistoryTest, EachCountedRestartIsRememberedWithItsReasonAndTheOldestAreForgotten) {
  Snapshot now = JobOf(RestartPolicy::kExitCode);
  now.job.ledger->history.assign(kRestartHistoryMax, RestartRecord{.index = 7});
  now.pods[1] = Ended(now, Role::kWorker, 0, 137);
  now.pods[1].termination_message = std::string(400, 'x');
  const Ledger ledger = AdvanceLedger(now).ledger;
  ASSERT_EQ(ledger.history.size(), kRestartHistoryMax);
  const RestartRecord& last = ledger.history.back();
  EXPECT_EQ(last.role, Role::kWorker);
  EXPECT_EQ(last.index, 0);
  EXPECT_EQ(last.pod_number, 1);
  EXPECT_EQ(last.cause, RestartCause::kKilled);
  EXPECT_EQ(last.exit_code, 137);
  EXPECT_EQ(last.node, "node-a");
  EXPECT_EQ(last.time, now.now);
  EXPECT_EQ(last.message.size(), kRestartMessageMax);
}

TEST(EvaluatorTest, ItsFailureForGoodDoesNotEndTheJobAndItIsNotMadeAgain) {
  Snapshot now = JobOf(RestartPolicy::kExitCode, {.chiefs = 1, .evaluators = 1});
  now.pods[1] = Ended(now, Role::kEvaluator, 0, 1);
  const LedgerChange change = AdvanceLedger(now);
  EXPECT_FALSE(change.ledger.outcome.has_value());
  EXPECT_TRUE(change.ledger.replicas.at(Role::kEvaluator).at(0).failed);
  EXPECT_THAT(change.notes.at(0).message, HasSubstr("the job goes on without it"));
  now.job.ledger = change.ledger;
  EXPECT_EQ(AdvanceLedger(now).ledger, change.ledger);
}

TEST(EvaluatorTest, OneThatWasScaledAwayMayTryAgain) {
  Snapshot now = JobOf(RestartPolicy::kExitCode, {.chiefs = 1, .evaluators = 1});
  EntryOf(now, Role::kEvaluator, 0).failed = true;
  now.pods[1] = Ended(now, Role::kEvaluator, 0, 1);
  now.job.spec.roles[Role::kEvaluator].replicas = 0;
  const LedgerReplica entry = AdvanceLedger(now).ledger.replicas.at(Role::kEvaluator).at(0);
  EXPECT_FALSE(entry.failed);
  EXPECT_EQ(entry.pod_number, 2);
}

TEST(DynamicWorkerTest, OnlyTheDecidingWorkersFailureEndsTheJob) {
  Snapshot now = StartedTfJob({.ps = 1, .workers = 2});
  now.job.spec.dynamic_worker = true;
  now.pods = {PodOf(now, Role::kPs, 0), PodOf(now, Role::kWorker, 0),
              Ended(now, Role::kWorker, 1, 1)};
  EXPECT_FALSE(AdvanceLedger(now).ledger.outcome.has_value());
  now.pods[1] = Ended(now, Role::kWorker, 0, 1);
  EXPECT_EQ(AdvanceLedger(now).ledger.outcome, JobState::kFailed);
}

}  // namespace
}  // namespace taas
