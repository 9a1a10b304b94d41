// A job of all-reduce whose workers become more and fewer while it trains.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/plan/plan.h"
#include "operator/plan/plan_fixture.h"

namespace taas {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A chief and `workers` that run, of which two must be there and six may be.
Snapshot ElasticJob(int32_t workers) {
  Snapshot now = StartedJob({.chiefs = 1, .workers = workers});
  now.job.spec.roles[Role::kWorker].elastic = ElasticSpec{2, 6};
  now.pods.push_back(PodOf(now, Role::kChief, 0));
  for (int32_t i = 0; i < workers; ++i) now.pods.push_back(PodOf(now, Role::kWorker, i));
  return now;
}

std::vector<std::string> Made(const Plan& plan) {
  std::vector<std::string> names;
  for (const CreatePod& step : StepsOf<CreatePod>(plan)) names.push_back(step.pod.name);
  return names;
}

std::vector<std::string> Deleted(const Plan& plan) {
  std::vector<std::string> names;
  for (const DeletePod& step : StepsOf<DeletePod>(plan)) names.push_back(step.name);
  return names;
}

TEST(ElasticPlanTest, MoreWorkersAreMoreAndTheOthersStay) {
  Snapshot now = ElasticJob(3);
  now.job.spec.roles[Role::kWorker].replicas = 5;
  const Plan plan = Follow(now);
  EXPECT_THAT(Made(plan), ElementsAre("mnist-worker-3", "mnist-worker-4"));
  EXPECT_THAT(Deleted(plan), IsEmpty());
  EXPECT_EQ(now.job.ledger->attempt, 1);
  EXPECT_EQ(plan.status.state, JobState::kRunning);
}

TEST(ElasticPlanTest, OfFewerTheHighestGo) {
  Snapshot now = ElasticJob(5);
  now.job.spec.roles[Role::kWorker].replicas = 3;
  const Plan plan = Follow(now);
  EXPECT_THAT(Deleted(plan), ElementsAre("mnist-worker-3", "mnist-worker-4"));
  EXPECT_THAT(Made(plan), IsEmpty());
  EXPECT_EQ(plan.status.replica_statuses.at(Role::kWorker).desired, 3);
  // That they end by it is no failure.
  now.gone = {PodOf(now, Role::kWorker, 4, {.phase = PodPhase::kFailed, .exit_code = 143})};
  now.pods.pop_back();
  Follow(now);
  EXPECT_THAT(now.job.ledger->restarts, IsEmpty());
}

TEST(ElasticPlanTest, ALostWorkerIsReplacedAndNobodyElse) {
  for (const int32_t lost : {0, 2}) {
    Snapshot now = ElasticJob(3);
    now.pods[static_cast<size_t>(lost) + 1] =
        PodOf(now, Role::kWorker, lost, {.phase = PodPhase::kFailed, .exit_code = 137});
    const Plan plan = Follow(now);
    EXPECT_THAT(Deleted(plan), ElementsAre("mnist-worker-" + std::to_string(lost)));
    EXPECT_EQ(now.job.ledger->attempt, 1);
    EXPECT_EQ(plan.status.state, JobState::kRunning) << "any two train on";
  }
  Snapshot now = ElasticJob(2);
  now.pods[1] = PodOf(now, Role::kWorker, 0, {.phase = PodPhase::kFailed, .exit_code = 137});
  EXPECT_EQ(Follow(now).status.state, JobState::kRestarting);
}

TEST(ElasticPlanTest, OneOfTheSurplusThatFailsForGoodIsDoneWithout) {
  Snapshot now = ElasticJob(3);
  now.job.spec.backoff_limit = 0;
  now.pods[3] = PodOf(now, Role::kWorker, 2,
                      {.phase = PodPhase::kFailed, .exit_code = 138});
  Plan plan = Follow(now);
  EXPECT_FALSE(now.job.ledger->outcome.has_value());
  EXPECT_TRUE(EntryOf(now, Role::kWorker, 2).failed);
  EXPECT_THAT(plan.status.message, HasSubstr("worker-2 failed for good"));
  EXPECT_THAT(plan.status.message, HasSubstr("training goes on without it"));
  // Of those without which there is no training it is the end.
  now.pods[2] = PodOf(now, Role::kWorker, 1, {.phase = PodPhase::kFailed, .exit_code = 138});
  Follow(now);
  EXPECT_EQ(now.job.ledger->outcome, JobState::kFailed);
}

// A worker that came when all steps were made found no chief, and the job failed for it.
TEST(ElasticPlanTest, TheEndDoesNotWaitForTheSurplus) {
  Snapshot now = ElasticJob(3);
  now.job.spec.success_policy = SuccessPolicy::kAllWorkers;
  const auto done = [&](Role role, int32_t index) {
    return PodOf(now, role, index, {.phase = PodPhase::kSucceeded, .exit_code = 0});
  };
  now.pods[0] = done(Role::kChief, 0);
  now.pods[1] = done(Role::kWorker, 0);
  Follow(now);
  EXPECT_FALSE(now.job.ledger->outcome.has_value()) << "worker-1 is one of the fewest";
  now.pods[2] = done(Role::kWorker, 1);
  Follow(now);
  now.now += std::chrono::minutes(1);
  Follow(now);
  EXPECT_EQ(now.job.ledger->outcome, JobState::kSucceeded);
}

TEST(ElasticPlanTest, NobodyIsReleasedForWorkersThatFindNoPlaceAboveTheFewest) {
  Snapshot now = ElasticJob(6);
  now.job.spec.pending_deadline_seconds = 30;
  const auto unplaced = [&](int32_t index) {
    Pod pod = PodOf(now, Role::kWorker, index, {.phase = PodPhase::kPending});
    pod.unschedulable_reason = "Unschedulable";
    pod.unschedulable_message = "0/3 nodes have room";
    return pod;
  };
  for (const int32_t index : {3, 4, 5}) {
    now.pods[static_cast<size_t>(index) + 1] = unplaced(index);
  }
  Follow(now);
  now.now += std::chrono::hours(5);
  Plan plan = Follow(now);
  EXPECT_EQ(now.job.ledger->releases, 0);
  EXPECT_THAT(plan.status.message, HasSubstr("worker-3 (and 2 more) cannot be scheduled"));
  EXPECT_THAT(plan.status.message, HasSubstr("training does not wait for it"));

  now = ElasticJob(6);
  now.job.spec.pending_deadline_seconds = 30;
  now.pods[2] = unplaced(1);
  Follow(now);
  now.now += std::chrono::hours(5);
  plan = Follow(now);
  EXPECT_EQ(now.job.ledger->releases, 1);
}

}  // namespace
}  // namespace taas
