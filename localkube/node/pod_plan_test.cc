#include "localkube/node/pod_plan.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr Clock::WallTime kNow{1'800'000'000s};

ContainerRuns Ended(int exit_code, int number = 0) {
  ContainerRuns runs;
  runs.number = number;
  runs.run.phase = RunPhase::kEnded;
  runs.run.exit = ExitRecord{.exit_code = exit_code,
                             .reason = exit_code == 0 ? "Completed" : "Error",
                             .message = "said at the end",
                             .started_at = kNow - 20s,
                             .finished_at = kNow - 5s};
  return runs;
}

ContainerRuns Running(int number = 0) {
  ContainerRuns runs;
  runs.number = number;
  runs.run.phase = RunPhase::kRunning;
  runs.run.state = RunState{.pid = 1, .started_at = kNow - 20s};
  return runs;
}

class PodPlanTest : public testing::Test {
 protected:
  PodPlanTest() {
    pod_ = {{"metadata", {{"name", "a"}, {"uid", "u"}}},
            {"spec",
             {{"restartPolicy", "Never"},
              {"nodeName", "local"},
              {"containers", Json::array({{{"name", "c"}, {"image", "i"}}})}}}};
  }
  PodPlan Plan(const ContainerRuns& runs) {
    const PodPlan plan = PlanPod(pod_, {{"c", runs}}, kNow);
    status_ = Json::parse(plan.status);
    return plan;
  }
  Json container() { return status_["containerStatuses"][0]; }
  std::string Condition(const std::string& type, const char* field = "status") {
    for (const Json& condition : status_["conditions"]) {
      if (condition["type"] == type) return condition.value(field, "");
    }
    return "missing";
  }
  void Delete(std::chrono::seconds left) {
    pod_["metadata"]["deletionTimestamp"] = FormatRfc3339(kNow + left);
  }

  Json pod_;
  Json status_;
};

TEST_F(PodPlanTest, ANewPodIsStartedAndPending) {
  const PodPlan plan = Plan({});
  ASSERT_EQ(plan.starts.size(), 1u);
  EXPECT_EQ(plan.starts[0].container, "c");
  EXPECT_EQ(plan.starts[0].number, 0);
  EXPECT_EQ(status_["phase"], "Pending");
  EXPECT_EQ(container()["state"]["waiting"]["reason"], "ContainerCreating");
  EXPECT_EQ(Condition("PodScheduled"), "True");
  EXPECT_EQ(Condition("Ready"), "False");
}

TEST_F(PodPlanTest, ARunThatNobodyClaimedYetIsStartedUnderItsOwnNumber) {
  ContainerRuns runs;
  runs.number = 3;
  const PodPlan plan = Plan(runs);
  ASSERT_EQ(plan.starts.size(), 1u);
  EXPECT_EQ(plan.starts[0].number, 3);
}

TEST_F(PodPlanTest, ARunningPodIsReadyAndItsConditionsKeepTheirTimes) {
  pod_["status"] = {{"conditions", Json::array({{{"type", "Ready"},
                                                 {"status", "True"},
                                                 {"lastTransitionTime", "2026-01-01T00:00:00Z"}}})},
                    {"qosClass", "BestEffort"}};
  const PodPlan plan = Plan(Running());
  EXPECT_TRUE(plan.starts.empty());
  EXPECT_EQ(status_["phase"], "Running");
  EXPECT_EQ(status_["podIP"], "127.0.0.1");
  EXPECT_EQ(status_["qosClass"], "BestEffort");
  EXPECT_EQ(container()["ready"], true);
  EXPECT_EQ(Condition("Ready", "lastTransitionTime"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(Condition("ContainersReady", "lastTransitionTime"), FormatRfc3339(kNow));
}

TEST_F(PodPlanTest, AnEndedPodSucceedsOrFailsWithItsMessage) {
  Plan(Ended(0));
  EXPECT_EQ(status_["phase"], "Succeeded");
  EXPECT_EQ(container()["state"]["terminated"]["reason"], "Completed");
  EXPECT_EQ(Condition("Ready", "reason"), "PodCompleted");
  Plan(Ended(1));
  EXPECT_EQ(status_["phase"], "Failed");
  EXPECT_EQ(container()["state"]["terminated"]["exitCode"], 1);
  EXPECT_EQ(container()["state"]["terminated"]["message"], "said at the end");
}

TEST_F(PodPlanTest, APodThatHasEndedNeverStartsAgainEvenIfItsRunsAreGone) {
  pod_["status"] = {{"phase", "Succeeded"}};
  const PodPlan plan = Plan({});
  EXPECT_TRUE(plan.starts.empty());
  EXPECT_EQ(status_["phase"], "Succeeded");
}

TEST_F(PodPlanTest, OnFailureRestartsAFailureAtOnceThenWithBackoff) {
  pod_["spec"]["restartPolicy"] = "OnFailure";
  PodPlan plan = Plan(Ended(1, 0));
  ASSERT_EQ(plan.starts.size(), 1u);
  EXPECT_EQ(plan.starts[0].number, 1);
  plan = Plan(Ended(1, 1));
  EXPECT_TRUE(plan.starts.empty());
  EXPECT_EQ(plan.wake_at, kNow - 5s + 10s);
  EXPECT_EQ(container()["state"]["waiting"]["reason"], "CrashLoopBackOff");
  EXPECT_EQ(container()["lastState"]["terminated"]["exitCode"], 1);
  EXPECT_EQ(container()["restartCount"], 1);
  EXPECT_EQ(status_["phase"], "Running");
  plan = Plan(Ended(0, 1));
  EXPECT_EQ(status_["phase"], "Succeeded");
}

TEST_F(PodPlanTest, AlwaysRestartsASuccessToo) {
  pod_["spec"]["restartPolicy"] = "Always";
  EXPECT_EQ(Plan(Ended(0, 0)).starts.size(), 1u);
  EXPECT_EQ(RestartDelay(1), 0s);
  EXPECT_EQ(RestartDelay(2), 10s);
  EXPECT_EQ(RestartDelay(3), 20s);
  EXPECT_EQ(RestartDelay(100), 300s);
}

TEST_F(PodPlanTest, DeletionStopsWithTheGraceThatIsLeftAndIsConfirmedAfterTheEnd) {
  Delete(7s);
  PodPlan plan = Plan(Running());
  ASSERT_EQ(plan.stops.size(), 1u);
  EXPECT_EQ(plan.stops[0].grace, 7s);
  EXPECT_FALSE(plan.confirm_deletion);
  EXPECT_EQ(Condition("Ready"), "False");
  Delete(-3s);
  EXPECT_EQ(Plan(Running()).stops[0].grace, 0ms);
  plan = Plan(Ended(143));
  EXPECT_TRUE(plan.confirm_deletion);
  EXPECT_EQ(status_["phase"], "Failed");
}

TEST_F(PodPlanTest, APodThatIsDeletedBeforeItsStartIsNeverStarted) {
  Delete(30s);
  EXPECT_TRUE(Plan({}).confirm_deletion);
  EXPECT_TRUE(Plan({}).starts.empty());
  ContainerRuns claimed_by_nobody;
  claimed_by_nobody.number = 0;
  const PodPlan plan = Plan(claimed_by_nobody);
  EXPECT_EQ(plan.stops.size(), 1u) << "a shim may be on its way";
  EXPECT_TRUE(plan.confirm_deletion);
}

TEST_F(PodPlanTest, ADeletedPodIsNotRestarted) {
  pod_["spec"]["restartPolicy"] = "Always";
  Delete(0s);
  EXPECT_TRUE(Plan(Ended(143)).starts.empty());
  EXPECT_TRUE(Plan(Ended(143)).confirm_deletion);
}

TEST_F(PodPlanTest, APodFailsOnlyWhenAllItsContainersHaveEnded) {
  pod_["spec"]["containers"].push_back({{"name", "d"}, {"image", "i"}});
  Json status = Json::parse(PlanPod(pod_, {{"c", Ended(1)}, {"d", Running()}}, kNow).status);
  EXPECT_EQ(status["phase"], "Running");
  status = Json::parse(PlanPod(pod_, {{"c", Ended(1)}, {"d", Ended(0)}}, kNow).status);
  EXPECT_EQ(status["phase"], "Failed");
}

}  // namespace
}  // namespace taas::localkube
