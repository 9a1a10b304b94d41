// Pods that a former leader made after its time: which of them go, and which are the very pods that
// the job waits for.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/plan/plan.h"
#include "operator/plan/plan_fixture.h"

namespace taas {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kEpoch = 7;

// Names of the pods that the plan deletes.
std::vector<std::string> Deleted(const Snapshot& now) {
  std::vector<std::string> names;
  const Plan plan = PlanJob(now);
  for (const Step& step : plan.steps) {
    if (const auto* drop = std::get_if<DeletePod>(&step)) names.push_back(drop->name);
  }
  return names;
}

Snapshot StartedUnderLeader(JobShape shape) {
  Snapshot now = StartedJob(shape);
  now.epoch = kEpoch;
  return now;
}

// What a former leader made, and the cluster shows only now.
void ArrivesLate(Snapshot& now, Role role, int32_t index, PodShape shape = {}) {
  Pod pod = PodOf(now, role, index, shape);
  pod.epoch = kEpoch - 1;
  now.late.insert(pod.meta.uid);
  now.pods.push_back(std::move(pod));
}

TEST(LatePodTest, OneThatTheLedgerWaitsForIsThatPod) {
  Snapshot now = StartedUnderLeader({.workers = 1});
  ArrivesLate(now, Role::kWorker, 0, {.phase = PodPhase::kPending});
  EXPECT_THAT(PlanJob(now).steps, IsEmpty());
}

TEST(LatePodTest, OneOfAnEarlierNumberGoesAsEver) {
  Snapshot now = StartedUnderLeader({.workers = 1});
  EntryOf(now, Role::kWorker, 0).pod_number = 2;
  ArrivesLate(now, Role::kWorker, 0);
  EXPECT_THAT(Deleted(now), ElementsAre("mnist-worker-0"));
}

// Symptom: a worker that had completed ran a second time.
TEST(LatePodTest, OneOfAReplicaThatHasCompletedGoesWhoeverMadeItAndWhatIsLeftOfTheFirstStays) {
  Snapshot now = StartedUnderLeader({.workers = 2});
  EntryOf(now, Role::kWorker, 1).completed = true;
  now.pods = {PodOf(now, Role::kWorker, 0), PodOf(now, Role::kWorker, 1)};
  EXPECT_THAT(Deleted(now), ElementsAre("mnist-worker-1"));
  now.pods[1] = PodOf(now, Role::kWorker, 1, {.phase = PodPhase::kSucceeded});
  EXPECT_THAT(Deleted(now), IsEmpty());
  // Its node starts its container again and again under policy Always.
  now.pods[1] = PodOf(now, Role::kWorker, 1);
  now.pods[1].restart_count = 1;
  now.pods[1].last_exit_code = 0;
  EXPECT_THAT(Deleted(now), IsEmpty());
}

TEST(LatePodTest, OneThatComesAfterTheEndOfItsJobGoesThoughTheJobKeepsItsPods) {
  Snapshot now = StartedUnderLeader({.ps = 1, .workers = 1});
  now.job.spec.clean_pod_policy = CleanPodPolicy::kNone;
  now.job.ledger->outcome = JobState::kSucceeded;
  now.pods = {PodOf(now, Role::kPs, 0)};
  EXPECT_THAT(Deleted(now), IsEmpty()) << "it ran at the end, and the user wants it to stay";
  ArrivesLate(now, Role::kWorker, 0);
  EXPECT_THAT(Deleted(now), ElementsAre("mnist-worker-0"));
  now.pods.back().meta.deletion_time = now.now;
  EXPECT_THAT(Deleted(now), IsEmpty()) << "it goes already";
}

TEST(LatePodTest, OneOfACompletedReplicaGoesAfterTheEndToo) {
  Snapshot now = StartedUnderLeader({.workers = 1});
  now.job.spec.clean_pod_policy = CleanPodPolicy::kNone;
  now.job.ledger->outcome = JobState::kSucceeded;
  EntryOf(now, Role::kWorker, 0).completed = true;
  now.pods = {PodOf(now, Role::kWorker, 0)};
  EXPECT_THAT(Deleted(now), ElementsAre("mnist-worker-0"));
}

TEST(LatePodTest, OneThatComesWhileAllWaitForTheEvaluatorGoesAtOnce) {
  Snapshot now = StartedUnderLeader({.chiefs = 1, .workers = 1, .evaluators = 1});
  EntryOf(now, Role::kChief, 0).completed = true;
  now.job.ledger->finishing_since = now.now - seconds(1);
  now.pods = {PodOf(now, Role::kChief, 0, {.phase = PodPhase::kSucceeded}),
              PodOf(now, Role::kEvaluator, 0)};
  ArrivesLate(now, Role::kWorker, 0);
  EXPECT_THAT(Deleted(now), ElementsAre("mnist-worker-0"));
  now.late.clear();
  EXPECT_THAT(Deleted(now), IsEmpty()) << "one that was there has its grace";
}

TEST(LatePodTest, OneThatHasEndedIsLeftForItsLog) {
  Snapshot now = StartedUnderLeader({.workers = 1});
  now.job.spec.clean_pod_policy = CleanPodPolicy::kNone;
  now.job.ledger->outcome = JobState::kFailed;
  ArrivesLate(now, Role::kWorker, 0, {.phase = PodPhase::kFailed, .exit_code = 1});
  EXPECT_THAT(Deleted(now), IsEmpty());
}

TEST(EpochTest, StandsOnWhatALeaderMakesAndNowhereWithoutElections) {
  Snapshot now = StartedUnderLeader({.workers = 1});
  now.services.clear();
  Plan plan = PlanJob(now);
  ASSERT_EQ(plan.steps.size(), 2u);
  const std::string key(kEpochAnnotation);
  EXPECT_EQ(std::get<CreateService>(plan.steps[0]).annotations.at(key), "7");
  EXPECT_EQ(std::get<CreatePod>(plan.steps[1]).pod.annotations.at(key), "7");
  now.epoch = 0;
  plan = PlanJob(now);
  EXPECT_EQ(std::get<CreateService>(plan.steps[0]).annotations.count(key), 0u);
  EXPECT_EQ(std::get<CreatePod>(plan.steps[1]).pod.annotations.count(key), 0u);
}

}  // namespace
}  // namespace taas
