#include "operator/plan/absent.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "operator/plan/plan.h"
#include "operator/plan/plan_fixture.h"

namespace taas {
namespace {

constexpr char kNoGpu[] = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.";

// Chief and parameter server run; no node has what the workers ask for.
Snapshot TrainsWithoutWorkers(int32_t workers) {
  Snapshot now = StartedJob({.chiefs = 1, .ps = 1, .workers = workers});
  now.pods = {PodOf(now, Role::kChief, 0), PodOf(now, Role::kPs, 0)};
  for (int32_t i = 0; i < workers; ++i) {
    now.pods.push_back(PodOf(now, Role::kWorker, i, {.phase = PodPhase::kPending}));
    now.pods.back().unschedulable_reason = "Unschedulable";
    now.pods.back().unschedulable_message = kNoGpu;
  }
  return now;
}

void EndTraining(Snapshot& now) {
  now.pods[0] = PodOf(now, Role::kChief, 0, {.phase = PodPhase::kSucceeded});
  now.pods[1] = PodOf(now, Role::kPs, 0, {.phase = PodPhase::kSucceeded});
}

// Symptom: a job whose workers asked for GPUs that no node had was trained by its chief alone, and
// Succeeded with an empty message and the event "chief-0 completed".
TEST(AbsentTest, AtTheEndItIsSaidWhoNeverRanAndWhy) {
  Snapshot now = TrainsWithoutWorkers(2);
  EndTraining(now);
  const std::string expected =
      std::string("trained without worker-0 and worker-1, which never ran: ") + kNoGpu;
  const auto ledgers = StepsOf<WriteLedger>(PlanJob(now));
  ASSERT_EQ(ledgers.size(), 1u);
  ASSERT_FALSE(ledgers[0].notes.empty());
  EXPECT_EQ(ledgers[0].notes.back().reason, "Completed");
  EXPECT_EQ(ledgers[0].notes.back().message, "chief-0 completed; " + expected);
  EXPECT_EQ(Follow(now).status.message, expected);
}

// Symptom: the same job was Running with the message that its workers cannot be scheduled, from
// which nobody could tell whether training had begun.
TEST(AbsentTest, WhileItTrainsTheMessageSaysForWhomItCouldStillBeWaiting) {
  Snapshot now = TrainsWithoutWorkers(2);
  EXPECT_EQ(PlanJob(now).status.message,
            std::string("worker-0 (and 1 more) cannot be scheduled: Unschedulable: ") + kNoGpu +
                "; training goes on without worker-0 and worker-1");
  now.pods.resize(2);
  now.refusal = "create pod default/mnist-worker-0: exceeded quota";
  EXPECT_EQ(PlanJob(now).status.message,
            now.refusal + "; training goes on without worker-0 and worker-1");
}

TEST(AbsentTest, ATrainingThatWaitsForAllOrHasNotBegunDoesNotGoOnWithoutAnybody) {
  Snapshot now = TrainsWithoutWorkers(1);
  now.pods[1] = PodOf(now, Role::kPs, 0, {.phase = PodPhase::kPending});
  EXPECT_EQ(GoesOnWithout(now, *now.job.ledger), "") << "without its server nothing trains";
  now = TrainsWithoutWorkers(1);
  now.job.spec.bundled_trainer = false;
  EXPECT_EQ(GoesOnWithout(now, *now.job.ledger), "") << "a program of the user's may wait";
  now = TrainsWithoutWorkers(1);
  now.job.spec.roles.erase(Role::kPs);
  EXPECT_EQ(GoesOnWithout(now, *now.job.ledger), "") << "an all-reduce waits for all";
}

// Symptom: at the end "training is done; the other replicas have 30 s to end" waited for pods that
// never had a node.
TEST(AbsentTest, TheEndDoesNotWaitForAPodThatNeverRan) {
  Snapshot now = TrainsWithoutWorkers(1);
  EndTraining(now);
  Follow(now);
  EXPECT_EQ(now.job.ledger->outcome, JobState::kSucceeded);
  now = TrainsWithoutWorkers(1);
  EndTraining(now);
  now.pods[2].unschedulable_reason = now.pods[2].unschedulable_message = "";
  now.pods[2].node = "node-a";
  now.pods[2].waiting_reason = "ImagePullBackOff";
  Follow(now);
  EXPECT_EQ(now.job.ledger->outcome, JobState::kSucceeded);
  EXPECT_EQ(now.job.ledger->outcome_remark,
            "trained without worker-0, which never ran: ImagePullBackOff");
}

// Its node may be slow to say that it runs, or that it has ended already.
TEST(AbsentTest, TheEndWaitsForAPodThatIsStarting) {
  Snapshot now = TrainsWithoutWorkers(1);
  EndTraining(now);
  now.pods[2].unschedulable_reason = now.pods[2].unschedulable_message = "";
  now.pods[2].node = "node-a";
  now.pods[2].waiting_reason = "ContainerCreating";
  Follow(now);
  EXPECT_FALSE(now.job.ledger->outcome.has_value());
  now.now += kTrainerFinishGrace;
  Follow(now);
  EXPECT_EQ(now.job.ledger->outcome_remark,
            "trained without worker-0, which never ran: it was still starting on node node-a");
}

TEST(AbsentTest, OfReplicasThatRanOrThatNobodyKnowsOfNothingIsSaid) {
  Snapshot now = TrainsWithoutWorkers(1);
  EndTraining(now);
  EntryOf(now, Role::kWorker, 0).pod_number = now.pods[2].pod_number = 2;
  EXPECT_EQ(TrainedWithout(now, *now.job.ledger, true), "") << "its first pod may have run";
  now.pods.pop_back();
  EntryOf(now, Role::kWorker, 0).pod_number = 1;
  EXPECT_EQ(TrainedWithout(now, *now.job.ledger, true), "") << "its pod was taken away";
}

TEST(AbsentTest, NamesAreListedUpToThree) {
  EXPECT_EQ(Listed({"worker-0"}), "worker-0");
  EXPECT_EQ(Listed({"worker-0", "worker-1", "worker-2"}), "worker-0, worker-1 and worker-2");
  EXPECT_EQ(Listed({"worker-0", "worker-1", "worker-2", "worker-3"}),
            "worker-0, worker-1 and 2 more");
}

}  // namespace
}  // namespace taas
