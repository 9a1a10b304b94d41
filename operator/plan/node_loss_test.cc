// Pods of a node that is gone: when their deletion is left to it, and when it is ended by force.

#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/plan/limits.h"
#include "operator/plan/plan.h"
#include "operator/plan/plan_fixture.h"

namespace taas {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr seconds kGrace{30};

// The grace of worker 0's pod 1 was over `ago` and it has not been seen to end; pod 2 is to follow.
Snapshot Terminating(seconds ago) {
  Snapshot now = StartedJob({.workers = 1});
  EntryOf(now, Role::kWorker, 0).pod_number = 2;
  Pod pod = PodOf(now, Role::kWorker, 0);
  pod.meta.deletion_time = now.now - ago;
  now.deleting_for[pod.meta.uid] = kGrace + ago;
  pod.deletion_grace = kGrace;
  pod.disrupted = pod.node_lost = true;
  now.pods.push_back(pod);
  return now;
}

// Symptom: a pod of a node that never came back stayed "Terminating" for ever, and its replica was
// never made again.
TEST(NodeLossTest, APodThatIsNotReportedAsEndedIsDeletedByForce) {
  const Snapshot now = Terminating(kKillMargin);
  const std::vector<DeletePod> drops = StepsOf<DeletePod>(PlanJob(now));
  ASSERT_EQ(drops.size(), 1u);
  EXPECT_TRUE(drops[0].force);
  EXPECT_EQ(drops[0].uid, now.pods[0].meta.uid);
  EXPECT_THAT(drops[0].why, HasSubstr("node node-a does not say that it has ended"));
}

TEST(NodeLossTest, UntilThenItIsLeftToItsNodeAndTheTimeIsNotMissed) {
  const Snapshot now = Terminating(kKillMargin - seconds(1));
  const Plan plan = PlanJob(now);
  EXPECT_THAT(StepsOf<DeletePod>(plan), IsEmpty());
  ASSERT_TRUE(plan.wake_at.has_value());
  EXPECT_EQ(*plan.wake_at, now.now + seconds(1));
  EXPECT_THAT(plan.status.message, HasSubstr("from node node-a, which does not answer"));
}

TEST(NodeLossTest, OneOfASuspendedJobGoesToo) {
  Snapshot now = Terminating(kKillMargin);
  now.job.spec.suspend = now.job.ledger->suspended = true;
  const std::vector<DeletePod> drops = StepsOf<DeletePod>(PlanJob(now));
  ASSERT_EQ(drops.size(), 1u);
  EXPECT_TRUE(drops[0].force);
}

// Symptom: where the operator's clock was ahead of the API server's, a pod that a healthy node was
// still stopping was deleted by force, and its successor started beside it.
TEST(NodeLossTest, TheClockOfTheApiServerDoesNotCountWhicheverIsAhead) {
  for (const std::chrono::hours ahead : {std::chrono::hours(-5), std::chrono::hours(5)}) {
    Snapshot now = Terminating(seconds(0));
    now.pods[0].meta.deletion_time = now.now + ahead;
    now.deleting_for[now.pods[0].meta.uid] = kGrace;
    EXPECT_THAT(StepsOf<DeletePod>(PlanJob(now)), IsEmpty());
    EXPECT_EQ(PlanJob(now).wake_at, now.now + kKillMargin);
    now.deleting_for[now.pods[0].meta.uid] = kGrace + kKillMargin;
    EXPECT_TRUE(StepsOf<DeletePod>(PlanJob(now)).at(0).force);
  }
}

// An operator that has just started has seen nothing before.
TEST(NodeLossTest, ADeletionThatIsSeenForTheFirstTimeHasAllOfItsGrace) {
  Snapshot now = Terminating(std::chrono::hours(1));
  now.deleting_for.clear();
  EXPECT_THAT(StepsOf<DeletePod>(PlanJob(now)), IsEmpty());
  EXPECT_EQ(PlanJob(now).wake_at, now.now + kGrace + kKillMargin);
}

struct LeftCase {
  const char* name;
  void (*change)(Pod&);
};
class LeftAloneTest : public testing::TestWithParam<LeftCase> {};
TEST_P(LeftAloneTest, IsNotDeletedByForceHoweverLongItTakes) {
  Snapshot now = Terminating(kKillMargin + std::chrono::hours(1));
  GetParam().change(now.pods[0]);
  EXPECT_THAT(StepsOf<DeletePod>(PlanJob(now)), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(
    Table, LeftAloneTest,
    testing::Values(LeftCase{"OneThatIsReadySoItsNodeAnswers", [](Pod& pod) { pod.ready = true; }},
                    LeftCase{"OneThatHasEnded", [](Pod& pod) { pod.container_ended = true; }},
                    LeftCase{"OneWithoutANode", [](Pod& pod) { pod.node.clear(); }},
                    LeftCase{"OneThatAFinalizerKeepsThoughItWasDeletedByForce",
                             [](Pod& pod) { pod.deletion_grace = seconds(0); }}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
