// TFJobs that another controller is at work on, or was: left alone, or taken over.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/plan/plan.h"
#include "operator/plan/plan_fixture.h"

namespace taas {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// One that training-operator began: a status, no ledger of ours, pods without our labels.
Snapshot ForeignTfJob() {
  Snapshot now = StartedTfJob({.ps = 1, .workers = 2});
  now.job.ledger.reset();
  now.services.clear();
  now.job.other_controller = OtherController{.name = "manager", .wrote_at = now.now - seconds(60)};
  now.job.status.conditions = {{.type = "Created", .status = true, .reason = "TFJobCreated"},
                               {.type = "Running", .status = true, .reason = "TFJobRunning"}};
  now.job.status.state = JobState::kRunning;
  now.job.meta.creation_time = now.now - seconds(101);
  now.job.status.start_time = now.now - seconds(100);
  return now;
}

Pod ForeignPod(const Snapshot& now, Role role, int32_t index) {
  Pod pod = PodOf(now, role, index);
  pod.job.clear();
  pod.role.reset();
  pod.index = -1;
  pod.pod_number = 0;
  return pod;
}

TEST(OtherControllerTest, AJobThatAnotherOneWritesTheStatusOfIsLeftAloneAndSaysSo) {
  Snapshot now = ForeignTfJob();
  const Plan plan = PlanJob(now);
  EXPECT_TRUE(plan.hands_off);
  EXPECT_THAT(plan.steps, IsEmpty());
  EXPECT_THAT(plan.status.message, HasSubstr("another controller of TFJobs, manager"));
  EXPECT_THAT(plan.status.message, HasSubstr("--adopt"));
  ASSERT_EQ(plan.status.conditions.size(), 3u);
  EXPECT_EQ(plan.status.conditions.front().type, "Refused");
  EXPECT_EQ(plan.status.conditions.front().reason, "AnotherController");
  EXPECT_EQ(plan.status.conditions.back().type, "Running") << "readers take the last one";
  now.job.status = plan.status;
  now.now += seconds(5);
  EXPECT_EQ(PlanJob(now).status, plan.status) << "nothing happens, so nothing is written";
}

TEST(OtherControllerTest, AlsoAJobThatWeBeganFirst) {
  Snapshot now = StartedTfJob({.workers = 1});
  now.services.clear();
  EXPECT_FALSE(PlanJob(now).hands_off);
  now.job.other_controller = OtherController{.name = "manager", .wrote_at = now.now};
  EXPECT_TRUE(PlanJob(now).hands_off);
  EXPECT_THAT(PlanJob(now).steps, IsEmpty());
  now.job.other_controller.reset();  // None of what it wrote is left.
  now.job.status.conditions = {{.type = "Refused", .status = true}};
  const Plan plan = PlanJob(now);
  EXPECT_FALSE(plan.hands_off);
  for (const Condition& condition : plan.status.conditions) EXPECT_NE(condition.type, "Refused");
}

TEST(OtherControllerTest, AJobThatEndedUnderItStaysAsItIs) {
  Snapshot now = ForeignTfJob();
  now.job.status.state = JobState::kSucceeded;
  const Plan plan = PlanJob(now);
  EXPECT_FALSE(plan.hands_off);
  EXPECT_THAT(plan.steps, IsEmpty());
  EXPECT_EQ(plan.status, now.job.status);
}

// Else both would make its pods, until one of them has written its status.
TEST(OtherControllerTest, ANewJobIsBegunOnlyAfterTheOtherOneHasHadItsChance) {
  Snapshot now = ForeignTfJob();
  now.job.other_controller.reset();
  now.job.status = {};
  now.pods.clear();
  now.job.meta.creation_time = now.now - seconds(9);
  EXPECT_THAT(StepsOf<WriteLedger>(PlanJob(now)), SizeIs(1));
  now.other_controller_about = true;
  const Plan plan = PlanJob(now);
  EXPECT_THAT(plan.steps, IsEmpty());
  EXPECT_EQ(plan.status, now.job.status);
  EXPECT_FALSE(plan.hands_off);
  ASSERT_EQ(plan.wake_at, now.now + seconds(1));
  now.now += seconds(1);
  EXPECT_THAT(StepsOf<WriteLedger>(PlanJob(now)), SizeIs(1));
  now.now -= seconds(1);
  now.adopt = true;
  EXPECT_THAT(StepsOf<WriteLedger>(PlanJob(now)), SizeIs(1));
}

TEST(AdoptTest, TheJobIsTakenOverWithItsPodsAndServicesAndNoneIsMadeTwice) {
  Snapshot now = ForeignTfJob();
  now.adopt = true;
  const auto ledgers = StepsOf<WriteLedger>(PlanJob(now));
  ASSERT_EQ(ledgers.size(), 1u);
  EXPECT_EQ(ledgers[0].ledger.taken_over, now.job.other_controller->wrote_at);
  EXPECT_EQ(ledgers[0].ledger.start_time, now.job.status.start_time);
  now.job.ledger = ledgers[0].ledger;
  // What the refused creations have shown.
  now.pods = {ForeignPod(now, Role::kPs, 0), ForeignPod(now, Role::kWorker, 0),
              ForeignPod(now, Role::kWorker, 1)};
  for (const Pod& pod : now.pods) {
    now.services[pod.meta.name] = OurService(now);
    now.services[pod.meta.name].job.clear();
  }
  Plan plan = PlanJob(now);
  EXPECT_THAT(StepsOf<CreatePod>(plan), IsEmpty());
  EXPECT_THAT(StepsOf<ReportConflict>(plan), IsEmpty());
  const auto taken = StepsOf<Adopt>(plan);
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken[2].name, "mnist-worker-1");
  EXPECT_EQ(taken[2].uid, now.pods[2].meta.uid);
  EXPECT_EQ(taken[2].resource_version, "20");
  EXPECT_EQ(taken[2].labels.at("taas.dev/job-name"), "mnist");
  EXPECT_EQ(taken[2].labels.at("taas.dev/role"), "worker");
  EXPECT_EQ(taken[2].labels.at("taas.dev/index"), "1");
  EXPECT_EQ(taken[2].labels.at("taas.dev/pod-number"), "1");
  now.pods = {PodOf(now, Role::kPs, 0), PodOf(now, Role::kWorker, 0), PodOf(now, Role::kWorker, 1)};
  plan = PlanJob(now);
  const auto services = StepsOf<Adopt>(plan);
  ASSERT_EQ(services.size(), 3u);
  EXPECT_TRUE(services[0].is_service);
  EXPECT_EQ(services[0].labels.at("taas.dev/job-name"), "mnist");
  for (auto& [name, service] : now.services) service.job = "mnist";
  plan = PlanJob(now);
  EXPECT_THAT(plan.steps, IsEmpty());
  EXPECT_EQ(plan.status.state, JobState::kRunning);
}

TEST(AdoptTest, WhatWasTakenOverStaysSoWithoutTheFlagUntilTheOtherOneIsBack) {
  Snapshot now = ForeignTfJob();
  now.adopt = true;
  now.job.ledger = StepsOf<WriteLedger>(PlanJob(now)).at(0).ledger;
  now.adopt = false;
  EXPECT_FALSE(PlanJob(now).hands_off);
  now.job.other_controller->wrote_at = now.now;
  EXPECT_TRUE(PlanJob(now).hands_off);
}

TEST(AdoptTest, WithoutItThePodsOfAnotherControllerAreReportedNotTouched) {
  Snapshot now = StartedTfJob({.workers = 1});
  now.pods = {ForeignPod(now, Role::kWorker, 0)};
  const Plan plan = PlanJob(now);
  EXPECT_THAT(StepsOf<Adopt>(plan), IsEmpty());
  EXPECT_EQ(StepsOf<ReportConflict>(plan).size(), 1u);
  EXPECT_THAT(plan.status.message, HasSubstr("start this operator with --adopt"));
}

TEST(AdoptTest, PodsOfNobodyOrOfAnotherJobAreNeverTaken) {
  Snapshot now = StartedTfJob({.workers = 1});
  now.adopt = true;
  now.pods = {ForeignPod(now, Role::kWorker, 0)};
  now.pods[0].owner_uid = "";
  EXPECT_THAT(StepsOf<Adopt>(PlanJob(now)), IsEmpty());
  now.pods[0].owner_uid = "uid-9";
  EXPECT_THAT(StepsOf<Adopt>(PlanJob(now)), IsEmpty());
}

TEST(AdoptTest, AJobThatEndedElsewhereIsRememberedAsEndedAndNothingRunsAgain) {
  Snapshot now = ForeignTfJob();
  now.adopt = true;
  now.job.status.state = JobState::kSucceeded;
  now.job.status.conditions.push_back(
      {.type = "Succeeded", .status = true, .reason = "TFJobSucceeded", .message = "done"});
  const Plan plan = PlanJob(now);
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(std::get<WriteLedger>(plan.steps[0]).ledger.outcome, JobState::kSucceeded);
  now.job.ledger = std::get<WriteLedger>(plan.steps[0]).ledger;
  EXPECT_THAT(PlanJob(now).steps, IsEmpty());
}

}  // namespace
}  // namespace taas
