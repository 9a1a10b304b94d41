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

// Pod 1 of worker 0 was to be killed `ago` and has not been seen to end; pod 2 is to follow.
Snapshot Terminating(seconds ago) {
  Snapshot now = StartedJob({.workers = 1});
  EntryOf(now, Role::kWorker, 0).pod_number = 2;
  Pod pod = PodOf(now, Role::kWorker, 0);
  pod.meta.deletion_time = now.now - ago;
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
