#include "operator/plan/conditions.h"

#include "gtest/gtest.h"
#include "operator/plan/plan_fixture.h"
#include "operator/plan/status.h"

namespace taas {
namespace {

const Condition* Find(const JobStatus& status, std::string_view type) {
  for (const Condition& condition : status.conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

TEST(ConditionsTest, ASuspendedTrainingJobSaysSoAndLaterThatItWasResumed) {
  Snapshot now = StartedJob({.workers = 1});
  now.job.ledger->suspended = true;
  now.job.status = DeriveStatus(now, *now.job.ledger);
  ASSERT_NE(Find(now.job.status, "Suspended"), nullptr);
  EXPECT_TRUE(Find(now.job.status, "Suspended")->status);
  EXPECT_EQ(Find(now.job.status, "Running")->reason, "Suspended");
  now.job.ledger->suspended = false;
  const JobStatus status = DeriveStatus(now, *now.job.ledger);
  EXPECT_FALSE(Find(status, "Suspended")->status);
  EXPECT_EQ(Find(status, "Suspended")->reason, "Resumed");
}

TEST(ConditionsTest, AJobThatWasNeverSuspendedHasNoSuchCondition) {
  const Snapshot now = StartedJob({.workers = 1});
  EXPECT_EQ(Find(DeriveStatus(now, *now.job.ledger), "Suspended"), nullptr);
}

TEST(ConditionsTest, AnInternalErrorIsNoConditionOfATfJobWhoseLastOneIsItsState) {
  Snapshot now = StartedTfJob({.workers = 1});
  now.job.status = DeriveStatus(now, *now.job.ledger);
  const JobStatus status = InternalErrorStatus(now, "map::at");
  EXPECT_EQ(status.conditions, now.job.status.conditions);
  EXPECT_EQ(status.message, "InternalError: map::at");
}

// Symptom: whoever wrote Succeeded into the status of a running job made `kubectl wait` return.
TEST(ForgedEndTest, IsTakenOutOfTheConditionsOfBothKinds) {
  for (Snapshot now : {StartedJob({.workers = 1}), StartedTfJob({.workers = 1})}) {
    now.pods = {PodOf(now, Role::kWorker, 0)};
    now.job.status.conditions = {{.type = "Succeeded", .status = true, .reason = "Lie"},
                                 {.type = "Failed", .status = true, .reason = "Lie"}};
    for (const Condition& condition : DeriveStatus(now, *now.job.ledger).conditions) {
      EXPECT_NE(condition.reason, "Lie") << condition.type;
    }
  }
}

}  // namespace
}  // namespace taas
