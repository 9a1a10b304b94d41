#include "operator/plan/plan.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/plan/plan_fixture.h"

namespace taas {
namespace {

TEST(PlanTest, TheLedgerOfANewJobIsWrittenBeforeAnythingIsMade) {
  const Plan plan = PlanJob(NewJob({.ps = 1, .workers = 1}));
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<WriteLedger>(plan.steps[0]));
}

TEST(PlanTest, WithAStoredLedgerServiceAndAllPodsAreMadeAtOnce) {
  Snapshot now = StartedJob({.chiefs = 1, .ps = 2, .workers = 2});
  now.services.clear();
  const Plan plan = PlanJob(now);
  EXPECT_EQ(StepsOf<CreateService>(plan).size(), 1u);
  const auto pods = StepsOf<CreatePod>(plan);
  ASSERT_EQ(pods.size(), 5u);
  EXPECT_EQ(pods[0].pod.name, "mnist-chief-0");
  EXPECT_EQ(pods[0].pod.hostname, "mnist-chief-0");
  EXPECT_EQ(pods[0].pod.subdomain, "mnist");
  EXPECT_EQ(pods[0].pod.image, "taas/trainer:test");
  EXPECT_EQ(pods[4].pod.labels.at("taas.dev/pod-number"), "1");
}

TEST(PlanTest, NothingIsDoneToAJobWhosePodsRun) {
  Snapshot now = StartedJob({.workers = 1});
  now.pods = {PodOf(now, Role::kWorker, 0)};
  EXPECT_TRUE(PlanJob(now).steps.empty());
}

TEST(PlanTest, AFailedPodIsDeletedOnlyAfterTheLedgerNamesItsSuccessor) {
  Snapshot now = StartedJob({.workers = 2});
  now.pods = {PodOf(now, Role::kWorker, 0),
              PodOf(now, Role::kWorker, 1, {.phase = PodPhase::kFailed, .exit_code = 137})};
  Plan plan = PlanJob(now);
  ASSERT_EQ(plan.steps.size(), 1u);
  now.job.ledger = std::get<WriteLedger>(plan.steps[0]).ledger;
  plan = PlanJob(now);
  ASSERT_EQ(plan.steps.size(), 1u);
  const auto drop = std::get<DeletePod>(plan.steps[0]);
  EXPECT_EQ(drop.name, "mnist-worker-1");
  EXPECT_EQ(drop.uid, now.pods[1].meta.uid);
  EXPECT_EQ(drop.resource_version, "20");
  now.gone = {now.pods[1]};
  now.pods.pop_back();
  plan = PlanJob(now);
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(std::get<CreatePod>(plan.steps[0]).pod.pod_number, 2);
}

TEST(PlanTest, APodIsNotMadeBeforeItsTimeAndThePlanSaysWhen) {
  Snapshot now = StartedJob({.workers = 1});
  EntryOf(now, Role::kWorker, 0).pod_number = 2;
  EntryOf(now, Role::kWorker, 0).not_before = now.now + std::chrono::seconds(4);
  Plan plan = PlanJob(now);
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_EQ(plan.wake_at, now.now + std::chrono::seconds(4));
  now.now += std::chrono::seconds(4);
  EXPECT_EQ(StepsOf<CreatePod>(PlanJob(now)).size(), 1u);
}

TEST(PlanTest, ACompletedReplicaIsNeverMadeAgain) {
  Snapshot now = StartedJob({.workers = 2});
  EntryOf(now, Role::kWorker, 1).completed = true;
  now.pods = {PodOf(now, Role::kWorker, 0)};
  EXPECT_TRUE(PlanJob(now).steps.empty());
}

TEST(PlanTest, NothingIsMadeWhileAFinishedJobWaitsForItsReplicasToEnd) {
  Snapshot now = StartedJob({.chiefs = 1, .workers = 2});
  EntryOf(now, Role::kChief, 0).completed = true;
  now.job.ledger->finishing_since = now.now;
  now.pods = {PodOf(now, Role::kChief, 0, {.phase = PodPhase::kSucceeded}),
              PodOf(now, Role::kWorker, 0)};
  EXPECT_TRUE(PlanJob(now).steps.empty());
}

struct CleanCase {
  const char* name;
  CleanPodPolicy policy;
  size_t want;
};
class CleanPodPolicyTest : public testing::TestWithParam<CleanCase> {};
TEST_P(CleanPodPolicyTest, SaysWhichPodsGoWhenTheJobHasEnded) {
  Snapshot now = StartedJob({.ps = 1, .workers = 1});
  now.job.spec.clean_pod_policy = GetParam().policy;
  now.job.ledger->outcome = JobState::kSucceeded;
  EntryOf(now, Role::kWorker, 0).completed = true;
  now.pods = {PodOf(now, Role::kWorker, 0, {.phase = PodPhase::kSucceeded}),
              PodOf(now, Role::kPs, 0)};
  EXPECT_EQ(StepsOf<DeletePod>(PlanJob(now)).size(), GetParam().want);
}
INSTANTIATE_TEST_SUITE_P(Table, CleanPodPolicyTest,
                         testing::Values(CleanCase{"Running", CleanPodPolicy::kRunning, 1},
                                         CleanCase{"All", CleanPodPolicy::kAll, 2},
                                         CleanCase{"None", CleanPodPolicy::kNone, 0}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(PlanTest, APodUnderOurNameThatIsNotOursIsReportedNotTouched) {
  Snapshot now = StartedJob({.workers = 1});
  now.pods = {PodOf(now, Role::kWorker, 0)};
  now.pods[0].owner_uid = "";
  const Plan plan = PlanJob(now);
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(std::get<ReportConflict>(plan.steps[0]).name, "mnist-worker-0");
  EXPECT_THAT(plan.status.message, testing::HasSubstr("does not belong to this job"));
}

TEST(PlanTest, PodsOfAnEarlierJobOfThisNameAreWaitedForInSilence) {
  Snapshot now = StartedJob({.workers = 1});
  now.pods = {PodOf(now, Role::kWorker, 0)};
  now.pods[0].owner_uid = "uid-0";
  const Plan plan = PlanJob(now);
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_THAT(plan.status.message, testing::HasSubstr("an earlier job of this name"));
}

TEST(PlanTest, PodsThatCouldNotFindEachOtherThroughAForeignServiceAreNotMade) {
  Snapshot now = StartedJob({.workers = 1});
  now.services["mnist"].owner_uid = "somebody";
  now.services["mnist"].owner_kind = "Deployment";
  const Plan plan = PlanJob(now);
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(std::get<ReportConflict>(plan.steps[0]).kind, "service");
}

TEST(PlanTest, AJobThatIsBeingDeletedIsLeftToTheGarbageCollector) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.meta.deletion_time = now.now;
  EXPECT_TRUE(PlanJob(now).steps.empty());
}

TEST(PlanTest, OnTheLocalClusterPortsAreAskedForBeforeAllElse) {
  Snapshot now = NewJob({.workers = 1});
  now.addresses.scheme = AddressScheme::kLoopback;
  Plan plan = PlanJob(now);
  EXPECT_EQ(plan.ports_wanted, 2);
  EXPECT_TRUE(plan.steps.empty());
  now.free_ports = {20001, 20002};
  plan = PlanJob(now);
  ASSERT_EQ(plan.steps.size(), 1u);
  now.job.ledger = std::get<WriteLedger>(plan.steps[0]).ledger;
  const auto pods = StepsOf<CreatePod>(PlanJob(now));
  ASSERT_EQ(pods.size(), 1u);
  EXPECT_EQ(pods[0].pod.cluster_port, 20001);
  EXPECT_EQ(pods[0].pod.annotations.at("taas.dev/bootstrap"), "127.0.0.1:20001");
  EXPECT_TRUE(pods[0].pod.hostname.empty());
}

TEST(PlanTest, AVolumeIsMountedInTheRolesThatItNames) {
  Snapshot now = StartedJob({.ps = 1, .workers = 1});
  now.job.spec.volumes = {{.name = "data", .mount_path = "/data", .roles = {Role::kWorker}}};
  const auto pods = StepsOf<CreatePod>(PlanJob(now));
  ASSERT_EQ(pods.size(), 2u);
  EXPECT_TRUE(pods[0].pod.volumes.empty());
  EXPECT_EQ(pods[1].pod.volumes.size(), 1u);
}

TEST(PlanTest, AScaledDownReplicasPodIsDeleted) {
  Snapshot now = StartedJob({.workers = 2});
  now.job.spec.roles[Role::kWorker].replicas = 1;
  EntryOf(now, Role::kWorker, 1).pod_number = 2;
  EntryOf(now, Role::kWorker, 1).first_pod = 2;
  now.pods = {PodOf(now, Role::kWorker, 0), PodOf(now, Role::kWorker, 1)};
  const auto deletes = StepsOf<DeletePod>(PlanJob(now));
  ASSERT_EQ(deletes.size(), 1u);
  EXPECT_EQ(deletes[0].name, "mnist-worker-1");
}

}  // namespace
}  // namespace taas
