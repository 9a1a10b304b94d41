#include "operator/plan/message.h"

#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "operator/plan/plan.h"
#include "operator/plan/plan_fixture.h"
#include "operator/plan/template_mark.h"

namespace taas {
namespace {

std::string MessageOf(const Snapshot& now) { return WhyNoProgress(now, *now.job.ledger); }

TEST(MessageTest, AJobThatTrainsHasNothingToSay) {
  Snapshot now = StartedJob({.workers = 1});
  now.pods = {PodOf(now, Role::kWorker, 0)};
  EXPECT_EQ(MessageOf(now), "");
}

TEST(MessageTest, TheSchedulersWordsAreQuotedAndTheOthersCounted) {
  Snapshot now = StartedJob({.workers = 3});
  for (int i = 0; i < 3; ++i) {
    now.pods.push_back(PodOf(now, Role::kWorker, i, {.phase = PodPhase::kPending}));
    if (i == 0) continue;
    now.pods.back().unschedulable_reason = "Unschedulable";
    now.pods.back().unschedulable_message = "0/3 nodes are available: 3 Insufficient cpu.";
  }
  EXPECT_EQ(MessageOf(now),
            "worker-1 (and 1 more) cannot be scheduled: Unschedulable: 0/3 nodes are available: "
            "3 Insufficient cpu.");
}

std::string OfCpu(const std::string& cpu) {
  const std::string requests = cpu.empty() ? "" : R"("cpu":")" + cpu + "\"";
  return R"({"spec":{"containers":[{"name":"trainer","resources":{"requests":{)" + requests +
         "}}}]}}";
}

// Symptom: requests were lowered and applied, the job went on waiting, and nobody said that the
// pods of before still asked for what they had asked for.
TEST(MessageTest, APodOfTheTemplateBeforeItsLastChangeIsToldOf) {
  Snapshot now = StartedJob({.workers = 3});
  std::string& pod_template = now.job.spec.roles.at(Role::kWorker).pod_template;
  pod_template = OfCpu("4");
  const TemplateMark before = MarkOf(now, Role::kWorker);
  for (int i = 0; i < 3; ++i) {
    now.pods.push_back(PodOf(now, Role::kWorker, i));
    now.pods.back().node = "node-1";
    now.pods.back().template_hash = before.hash;
    now.pods.back().requests = before.requests;
  }
  Pod& waits = now.pods[2];
  waits.phase = PodPhase::kPending;
  waits.node.clear();
  waits.unschedulable_reason = "Unschedulable";
  waits.unschedulable_message = "0/1 nodes are available: 1 Insufficient cpu.";
  const std::string why =
      "worker-2 cannot be scheduled: Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.";
  EXPECT_EQ(MessageOf(now), why);
  pod_template = OfCpu("2500m");
  EXPECT_EQ(MessageOf(now), why + " Its pod is of the template before the last change: "
                                  "`kubectl delete pod " + waits.meta.name + "` has it made anew");
  const TemplateMark after = MarkOf(now, Role::kWorker);
  waits.template_hash = after.hash;
  waits.requests = after.requests;
  EXPECT_EQ(MessageOf(now), why + " 2 pods of the job still hold what the template before the last "
                                  "change asked for: `kubectl delete pod` has them made anew");
  now.pods[0].phase = PodPhase::kSucceeded;
  now.pods[1].template_hash = 0;
  EXPECT_EQ(MessageOf(now), why) << "of an earlier operator's pod nobody knows";
}

// Symptom: after a change of an image and a scale-up the advice was to delete healthy pods, though
// they asked for what the new ones ask for, or less.
TEST(MessageTest, PodsOfAnEarlierTemplateThatAskForNoMoreAreNotToBeDeleted) {
  for (const char* before : {"2", "500m", "2000m", ""}) {
    Snapshot now = StartedJob({.workers = 2});
    std::string& pod_template = now.job.spec.roles.at(Role::kWorker).pod_template;
    pod_template = OfCpu(before);
    const TemplateMark old = MarkOf(now, Role::kWorker);
    now.pods.push_back(PodOf(now, Role::kWorker, 0));
    now.pods.back().template_hash = old.hash;
    now.pods.back().requests = old.requests;
    pod_template = OfCpu("2").insert(1, R"("metadata":{"annotations":{"a":"b"}},)");
    now.pods.push_back(PodOf(now, Role::kWorker, 1, {.phase = PodPhase::kPending}));
    now.pods.back().template_hash = MarkOf(now, Role::kWorker).hash;
    now.pods.back().unschedulable_reason = "Unschedulable";
    EXPECT_EQ(MessageOf(now), "worker-1 cannot be scheduled: Unschedulable") << before;
  }
}

TEST(MessageTest, APodThatIsMadeIsMarkedWithItsTemplate) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.spec.roles.at(Role::kWorker).pod_template = OfCpu("4");
  const auto creates = StepsOf<CreatePod>(Follow(now));
  ASSERT_EQ(creates.size(), 1u);
  const Pod pod = PodFromSpec(creates[0].pod, "u");
  EXPECT_EQ(pod.template_hash, MarkOf(now, Role::kWorker).hash);
  EXPECT_EQ(pod.requests, R"({"cpu":"4"})");
}

// Symptom: each plan of a large job took minutes, as each pod that waited was a reason to hash the
// template of each other pod.
TEST(MessageTest, AChangedTemplateOfTenThousandReplicasIsReadOnce) {
  constexpr int kReplicas = 10'000;
  Snapshot now = StartedJob({.workers = kReplicas});
  std::string& pod_template = now.job.spec.roles.at(Role::kWorker).pod_template;
  pod_template = OfCpu("4");
  const TemplateMark before = MarkOf(now, Role::kWorker);
  pod_template = OfCpu("2").insert(1, R"("metadata":{"annotations":{"a":")" +
                                          std::string(20'000, 'b') + "\"}},");
  const TemplateMark after = MarkOf(now, Role::kWorker);
  for (int i = 0; i < kReplicas; ++i) {
    const bool placed = i < kReplicas / 2;
    now.pods.push_back(PodOf(now, Role::kWorker, i,
                             {.phase = placed ? PodPhase::kRunning : PodPhase::kPending}));
    Pod& pod = now.pods.back();
    pod.template_hash = placed ? before.hash : after.hash;
    pod.requests = placed ? before.requests : after.requests;
    if (!placed) pod.unschedulable_reason = "Unschedulable";
  }
  std::vector<Hindrance> hindrances;
  const std::string why = WhyNoProgress(now, *now.job.ledger, &hindrances);
  EXPECT_EQ(why, "worker-5000 (and 4999 more) cannot be scheduled: Unschedulable. 5000 pods of the "
                 "job still hold what the template before the last change asked for: `kubectl "
                 "delete pod` has them made anew");
  ASSERT_EQ(hindrances.size(), 1u);
  EXPECT_EQ(hindrances[0].message, why);
  EXPECT_EQ(WorstReplica(now, *now.job.ledger),
            "worker-5000 (and 4999 more) cannot be scheduled: Unschedulable")
      << "what is kept says nothing of pods that go";
}

Pod Crashing(const Snapshot& now, int32_t restarts) {
  Pod pod = PodOf(now, Role::kWorker, 0);
  pod.waiting_reason = "CrashLoopBackOff";
  pod.restart_count = restarts;
  pod.last_exit_code = 1;
  return pod;
}

// Symptoms: "fails again and again" after one restart, and "after 1 restarts".
TEST(MessageTest, HowOftenAPodCrashedIsSaidInWords) {
  Snapshot now = StartedJob({.workers = 1});
  now.pods = {Crashing(now, 0)};
  EXPECT_EQ(MessageOf(now), "worker-0 failed: CrashLoopBackOff, the last exit code 1");
  now.pods = {Crashing(now, 1)};
  EXPECT_EQ(MessageOf(now),
            "worker-0 failed again: CrashLoopBackOff after 1 restart, the last exit code 1");
  now.pods = {Crashing(now, 2)};
  EXPECT_EQ(MessageOf(now),
            "worker-0 fails again and again: CrashLoopBackOff after 2 restarts, the last exit "
            "code 1");
}

// Symptom: "worker-0 is starting", for as long as its init container crashed, or lacked its image.
TEST(MessageTest, TheInitContainerThatAPodHasComeToIsNamedWithWhatIsInItsWay) {
  Snapshot now = StartedJob({.workers = 1});
  Pod pod = PodOf(now, Role::kWorker, 0, {.phase = PodPhase::kPending});
  pod.node = "node-a";
  pod.waiting_reason = "PodInitializing";
  const auto message_of = [&](InitContainer init) {
    init.name = "fetch";
    init.image = "curl:1";
    pod.init = std::make_shared<InitContainer>(std::move(init));
    now.pods = {pod};
    return MessageOf(now);
  };
  EXPECT_EQ(message_of({.running = true}), "worker-0 runs its init container fetch");
  EXPECT_EQ(message_of({.waiting_reason = "CrashLoopBackOff",
                        .restart_count = 4,
                        .last_exit_code = 6,
                        .last_termination_message = "no such host"}),
            "worker-0 fails again and again: CrashLoopBackOff after 4 restarts, the last: init "
            "container fetch: exit code 6: no such host");
  EXPECT_EQ(message_of({.waiting_reason = "CreateContainerConfigError",
                        .waiting_message = "configmap \"urls\" not found"}),
            "worker-0 cannot start its init container fetch: CreateContainerConfigError: configmap "
            "\"urls\" not found (image curl:1)");
  EXPECT_EQ(message_of({.waiting_reason = "ImagePullBackOff"}),
            "worker-0 cannot start its init container fetch: ImagePullBackOff (image curl:1)");
}

TEST(MessageTest, EachCauseIsOneHindranceWhoseFirstReplicaSpeaksForTheOthers) {
  Snapshot now = StartedJob({.ps = 1, .workers = 3});
  now.pods = {PodOf(now, Role::kPs, 0)};
  for (int i = 0; i < 3; ++i) {
    now.pods.push_back(PodOf(now, Role::kWorker, i, {.phase = PodPhase::kPending}));
    if (i < 2) now.pods.back().unschedulable_reason = "Unschedulable";
  }
  now.pods.back().node = "node-a";
  now.pods.back().waiting_reason = "ErrImagePull";
  const std::vector<Hindrance> found = PlanJob(now).hindrances;
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].cause, "ImagePull");
  EXPECT_EQ(found[0].reason, "ErrImagePull");
  EXPECT_EQ(found[1].reason, "Unschedulable");
  EXPECT_EQ(found[1].message,
            "worker-0 (and 1 more) cannot be scheduled: Unschedulable");
  now.pods.resize(1);
  EXPECT_TRUE(PlanJob(now).hindrances.empty());
}

TEST(MessageTest, AnImageThatCannotBePulledIsWorseThanAPodThatWaitsForANode) {
  Snapshot now = StartedJob({.workers = 2});
  now.pods = {PodOf(now, Role::kWorker, 0, {.phase = PodPhase::kPending}),
              PodOf(now, Role::kWorker, 1, {.phase = PodPhase::kPending})};
  now.pods[0].unschedulable_reason = "Unschedulable";
  now.pods[1].waiting_reason = "ImagePullBackOff";
  now.pods[1].waiting_message = "Back-off pulling image";
  now.pods[1].image = "example.com/x:1";
  EXPECT_EQ(MessageOf(now),
            "worker-1 cannot start: ImagePullBackOff: Back-off pulling image "
            "(image example.com/x:1)");
}

TEST(MessageTest, ASilentNodeIsNamedBeforeItsPodIsTakenAway) {
  Snapshot now = StartedJob({.workers = 1});
  now.pods = {PodOf(now, Role::kWorker, 0)};
  now.pods[0].node_silent = true;
  EXPECT_EQ(MessageOf(now), "worker-0 is on node node-a, which does not answer");
}

TEST(MessageTest, ADelayIsExplainedWithItsEnd) {
  Snapshot now = StartedJob({.workers = 1});
  LedgerReplica& entry = EntryOf(now, Role::kWorker, 0);
  entry = {.pod_number = 4, .quick_failures = 3, .not_before = now.now + std::chrono::seconds(2)};
  now.job.spec.trainer.checkpoint_dir = "/out";
  EXPECT_EQ(MessageOf(now),
            "worker-0 failed 3 times in a row and starts again at 2027-01-15T08:00:02Z");
}

// Symptom: while a replica waited for its next try nothing said what it had failed of.
TEST(MessageTest, ADelayTellsWhatTheReplicaFailedOfLast) {
  Snapshot now = StartedJob({.workers = 2});
  EntryOf(now, Role::kWorker, 1) = {.pod_number = 3, .quick_failures = 2,
                                    .not_before = now.now + std::chrono::seconds(1)};
  now.pods = {PodOf(now, Role::kWorker, 0)};
  now.job.ledger->history = {{.role = Role::kWorker, .index = 1, .message = "first"},
                             {.role = Role::kWorker, .index = 1, .message = "OutOfcpu: no room"},
                             {.role = Role::kWorker, .index = 0, .message = "another's"}};
  EXPECT_EQ(MessageOf(now),
            "worker-1 failed 2 times in a row and starts again at 2027-01-15T08:00:01Z; the last "
            "time: OutOfcpu: no room");
}

TEST(MessageTest, WithoutACheckpointDirectoryTheLossOfAPsIsSaidToCostTheTraining) {
  Snapshot now = StartedJob({.ps = 1, .workers = 1});
  now.pods = {PodOf(now, Role::kWorker, 0)};
  EntryOf(now, Role::kPs, 0).pod_number = 2;
  EXPECT_EQ(MessageOf(now),
            "ps-0 is started again; spec.trainer.checkpoint.dir is not set, so training starts "
            "from the beginning");
  now.job.spec.trainer.checkpoint_dir = "/out";
  EXPECT_EQ(MessageOf(now), "ps-0 is started again");
}

TEST(MessageTest, WhatTheChiefSaysCountsWhenAllPodsRun) {
  Snapshot now = StartedJob({.workers = 1});
  now.pods = {PodOf(now, Role::kWorker, 0)};
  now.polled = TrainerReport{.message = "waiting for ps-1 at 10.0.0.7:2222"};
  EXPECT_EQ(MessageOf(now), "waiting for ps-1 at 10.0.0.7:2222");
}

TEST(MessageTest, AContainerThatFailsAgainAndAgainIsQuotedWithItsLastWords) {
  Snapshot now = StartedJob({.workers = 1});
  now.pods = {PodOf(now, Role::kWorker, 0)};
  now.pods[0].waiting_reason = "CrashLoopBackOff";
  now.pods[0].waiting_message = "back-off 40s restarting failed container";
  now.pods[0].restart_count = 4;
  now.pods[0].last_exit_code = 2;
  now.pods[0].last_termination_message = "ModuleNotFoundError: No module named 'tensorflow'";
  EXPECT_EQ(MessageOf(now),
            "worker-0 fails again and again: CrashLoopBackOff after 4 restarts, the last exit code "
            "2: ModuleNotFoundError: No module named 'tensorflow'");
}

TEST(MessageTest, AClaimThatDoesNotExistIsNamedInTheSchedulersWords) {
  Snapshot now = StartedJob({.workers = 1});
  now.pods = {PodOf(now, Role::kWorker, 0, {.phase = PodPhase::kPending})};
  now.pods[0].unschedulable_reason = "Unschedulable";
  now.pods[0].unschedulable_message = "persistentvolumeclaim \"mnist\" not found";
  EXPECT_EQ(MessageOf(now),
            "worker-0 cannot be scheduled: Unschedulable: persistentvolumeclaim \"mnist\" not "
            "found");
}

TEST(MessageTest, ASuspendedJobNamesTheFieldOfItsKind) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.ledger->suspended = true;
  now.refusal = "not interesting now";
  EXPECT_EQ(MessageOf(now), "the job is suspended; it goes on when spec.suspend is false");
  now.job.kind = JobKind::kTfJob;
  EXPECT_EQ(MessageOf(now),
            "the job is suspended; it goes on when spec.runPolicy.suspend is false");
}

TEST(MessageTest, AnEvaluatorThatFailedForGoodIsToldOfWhileTrainingGoesOn) {
  Snapshot now = StartedJob({.workers = 1, .evaluators = 1});
  now.pods = {PodOf(now, Role::kWorker, 0),
              PodOf(now, Role::kEvaluator, 0, {.phase = PodPhase::kFailed, .exit_code = 1})};
  EntryOf(now, Role::kEvaluator, 0).failed = true;
  EXPECT_EQ(MessageOf(now),
            "evaluator-0 failed for good: exit code 1; training goes on without it");
}

TEST(MessageTest, AnEvaluatorInTroubleIsToldOfAfterTheTraining) {
  Snapshot now = StartedJob({.chiefs = 1, .evaluators = 1});
  now.job.ledger->finishing_since = now.now;
  EntryOf(now, Role::kChief, 0).completed = true;
  now.pods = {PodOf(now, Role::kEvaluator, 0, {.phase = PodPhase::kPending})};
  EXPECT_EQ(MessageOf(now),
            "training is done; evaluator-0, which has until 2027-01-15T08:10:00Z to evaluate the "
            "last checkpoint, waits for a node");
}

TEST(MessageTest, ARefusalOfTheApiServerGoesBeforeAllElse) {
  Snapshot now = StartedJob({.workers = 1});
  now.refusal = "create pod default/mnist-worker-0: 403: exceeded quota";
  EXPECT_EQ(MessageOf(now), now.refusal);
}

TEST(MessageTest, AFailedJobSaysWhyAndASucceededOneNothing) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.ledger->outcome = JobState::kFailed;
  now.job.ledger->outcome_message = "worker-0 failed for good: exit code 1";
  EXPECT_EQ(MessageOf(now), "worker-0 failed for good: exit code 1");
  now.job.ledger->outcome = JobState::kSucceeded;
  EXPECT_EQ(MessageOf(now), "");
}

}  // namespace
}  // namespace taas
