#include "operator/plan/conditions.h"

#include <algorithm>
#include <chrono>
#include <vector>

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

// Symptom: what somebody wrote into the conditions of a TFJob that had ended stayed there, and
// tools took the last of them for its state.
TEST(ForgedEndTest, TheLastConditionOfATfJobThatHasEndedIsItsEnd) {
  Snapshot now = StartedTfJob({.workers = 1});
  now.job.ledger->outcome = JobState::kSucceeded;
  now.job.status = DeriveStatus(now, *now.job.ledger);
  const Condition end = now.job.status.conditions.back();
  EXPECT_EQ(end.type, "Succeeded");
  for (const std::vector<Condition>& forged : std::vector<std::vector<Condition>>{
           {end, {.type = "Running", .status = true, .reason = "Lie"}},
           {{.type = "Succeeded", .status = true, .reason = "Lie"}},
           {}}) {
    now.job.status.conditions = forged;
    const std::vector<Condition> conditions = DeriveStatus(now, *now.job.ledger).conditions;
    EXPECT_EQ(conditions.back(), end);
    EXPECT_TRUE(std::none_of(conditions.begin(), conditions.end(), [](const Condition& other) {
      return other.type == "Running" && other.status;
    }));
  }
}

TEST(ForgedTimeTest, NoConditionIsOfATimeThatIsStillToCome) {
  for (Snapshot now : {StartedJob({.workers = 1}), StartedTfJob({.workers = 1})}) {
    now.pods = {PodOf(now, Role::kWorker, 0)};
    now.job.status = DeriveStatus(now, *now.job.ledger);
    ASSERT_FALSE(now.job.status.conditions.empty());
    for (Condition& condition : now.job.status.conditions) {
      condition.last_transition_time = now.now + std::chrono::hours(9);
      condition.last_update_time = condition.last_transition_time;
    }
    for (const Condition& condition : DeriveStatus(now, *now.job.ledger).conditions) {
      EXPECT_LE(condition.last_transition_time, now.now) << condition.type;
      EXPECT_LE(condition.last_update_time, now.now) << condition.type;
    }
  }
}

}  // namespace
}  // namespace taas
