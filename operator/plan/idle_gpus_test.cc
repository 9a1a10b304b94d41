#include "operator/plan/idle_gpus.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "operator/plan/plan.h"
#include "operator/plan/plan_fixture.h"

namespace taas {
namespace {

Snapshot WithGpus() {
  Snapshot now = StartedJob({.chiefs = 1, .ps = 1, .workers = 2});
  now.job.spec.roles[Role::kWorker].gpus = 1;
  now.job.spec.roles[Role::kPs].gpus = 1;
  for (const auto& [role, index] :
       {std::pair(Role::kChief, 0), {Role::kPs, 0}, {Role::kWorker, 0}, {Role::kWorker, 1}}) {
    now.pods.push_back(PodOf(now, role, index));
  }
  return now;
}

// Symptom: jobs with `gpus: 1` trained on processors and held their GPUs for days, since the
// operator had no image for GPUs, and no message nor event said so.
TEST(IdleGpusTest, ReplicasThatHoldGpusForTheImageWithoutThemAreToldOf) {
  Snapshot now = WithGpus();
  const std::string expected =
      "2 replicas hold GPUs and compute on processors: the operator has no image for GPUs "
      "(trainer.cudaImage.repository of its chart)";
  const Plan plan = PlanJob(now);
  EXPECT_EQ(plan.status.message, expected);
  ASSERT_EQ(plan.hindrances.size(), 1u);
  EXPECT_EQ(plan.hindrances[0].reason, "GpusIdle");
  EXPECT_EQ(plan.hindrances[0].message, expected);
  now.cuda_image = "taas/trainer-cuda:test";
  EXPECT_EQ(PlanJob(now).status.message, "");
  EXPECT_TRUE(PlanJob(now).hindrances.empty());
}

TEST(IdleGpusTest, WhatIsInTheWayOfAReplicaIsSaidBefore) {
  Snapshot now = WithGpus();
  now.pods[3] = PodOf(now, Role::kWorker, 1, {.phase = PodPhase::kPending});
  now.pods[3].unschedulable_reason = "Unschedulable";
  const Plan plan = PlanJob(now);
  EXPECT_EQ(plan.status.message,
            "worker-1 cannot be scheduled: Unschedulable; training goes on without worker-1");
  ASSERT_EQ(plan.hindrances.size(), 2u);
  EXPECT_EQ(plan.hindrances[1].message,
            "1 replica holds GPUs and computes on processors: the operator has no image for GPUs "
            "(trainer.cudaImage.repository of its chart)");
}

TEST(IdleGpusTest, ImagesAndGpusThatTheUserNamesAreTheUsersBusiness) {
  const auto why = [](const Snapshot& now) { return WhyGpusIdle(now, *now.job.ledger); };
  Snapshot now = WithGpus();
  now.job.spec.trainer.image = "mine:1";
  EXPECT_EQ(why(now), "");
  now = WithGpus();
  now.job.spec.bundled_trainer = false;
  EXPECT_EQ(why(now), "");
  now = WithGpus();
  RoleSpec& workers = now.job.spec.roles[Role::kWorker];
  workers.container = 0;
  workers.pod_template = R"({"spec":{"containers":[{"name":"trainer","image":"mine:2"}]}})";
  EXPECT_EQ(why(now), "");
  workers.pod_template = R"({"spec":{"containers":[{"name":"trainer"}]}})";
  EXPECT_NE(why(now), "");
  workers.env = R"([{"name":"TAAS_GPUS","value":""}])";
  EXPECT_EQ(why(now), "");
}

TEST(IdleGpusTest, OfAJobThatHoldsNoneNothingIsSaid) {
  Snapshot now = WithGpus();
  now.job.ledger->suspended = true;
  EXPECT_EQ(WhyGpusIdle(now, *now.job.ledger), "");
  now = WithGpus();
  now.addresses.scheme = AddressScheme::kLoopback;
  EXPECT_EQ(WhyGpusIdle(now, *now.job.ledger), "") << "its node hands GPUs out by itself";
  now = WithGpus();
  now.pods.resize(2);
  EXPECT_EQ(WhyGpusIdle(now, *now.job.ledger), "") << "of its workers no pod is there";
}

}  // namespace
}  // namespace taas
