#include "localkube/node/pod_plan.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr Clock::WallTime kNow{1'800'000'000s};

ContainerRuns Ended(int exit_code, int number = 0) {
  ContainerRuns runs;
  runs.number = number;
  runs.crashes = number + 1;
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
    pod_ = {{"metadata", {{"name", "a"}, {"namespace", "default"}, {"uid", "u"}}},
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

TEST_F(PodPlanTest, APodThatItsNodeRefusedHasNoContainersToShow) {
  pod_["status"] = {{"phase", "Failed"}, {"reason", "OutOfcpu"}};
  const PodPlan plan = Plan({});
  EXPECT_TRUE(plan.starts.empty());
  EXPECT_EQ(status_["phase"], "Failed");
  EXPECT_FALSE(status_.contains("containerStatuses")) << status_.dump(1);
}

// Symptom: only an event said that the image was not pulled, and events are forgotten.
TEST_F(PodPlanTest, AnOwnImageWhoseCommandRunsHereIsSaidNotToBePulled) {
  Plan({});
  EXPECT_EQ(Condition("taas.dev/ImagePulled"), "missing") << "without a command it never runs";
  pod_["spec"]["containers"][0]["command"] = {"/bin/true"};
  Plan({});
  EXPECT_EQ(Condition("taas.dev/ImagePulled"), "False");
  EXPECT_EQ(Condition("taas.dev/ImagePulled", "message"),
            "image \"i\" is not pulled: the command of container c runs with the programs of this "
            "machine");
  pod_["spec"]["containers"][0]["image"] = "taas/trainer:0.1.0";
  pod_.erase("status");
  Plan({});
  EXPECT_EQ(Condition("taas.dev/ImagePulled"), "missing");
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

TEST_F(PodPlanTest, AContainerShowsItsGpuSlotsWhileItWaitsRunsAndWhenItHasEnded) {
  const Json want = Json::parse(R"([{"name":"nvidia.com/gpu","resources":[
      {"resourceID":"1","health":"Healthy"},{"resourceID":"3","health":"Healthy"}]}])");
  for (ContainerRuns runs : {ContainerRuns(), Running(), Ended(0), Ended(1)}) {
    runs.gpus = {1, 3};
    Plan(runs);
    EXPECT_EQ(container()["allocatedResourcesStatus"], want) << status_.dump(1);
    runs.gpus.clear();
    Plan(runs);
    EXPECT_FALSE(container().contains("allocatedResourcesStatus")) << "it has none";
  }
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
  EXPECT_EQ(container()["state"]["waiting"]["message"],
            "back-off 10s restarting failed container=c pod=a_default(u)");
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
  EXPECT_EQ(RestartDelay(6), 160s);
  EXPECT_EQ(RestartDelay(7), 300s);
  EXPECT_EQ(RestartDelay(100), 300s);
}

TEST_F(PodPlanTest, ALongRunEndsACrashLoop) {
  pod_["spec"]["restartPolicy"] = "Always";
  ContainerRuns runs = Ended(1, 9);
  EXPECT_EQ(Plan(runs).wake_at, kNow - 5s + 300s);
  EXPECT_EQ(container()["state"]["waiting"]["message"],
            "back-off 5m0s restarting failed container=c pod=a_default(u)");
  EXPECT_TRUE(IsCrash(*runs.run.exit));
  runs.run.exit->started_at = kNow - 5s - 10min;
  EXPECT_FALSE(IsCrash(*runs.run.exit));
  runs.crashes = 0;
  EXPECT_EQ(Plan(runs).starts.size(), 1u);
}

TEST_F(PodPlanTest, AContainerThatCannotBeStartedYetSaysWhyAndIsTriedAgain) {
  ContainerRuns runs;
  runs.problem = StartProblem{"CreateContainerConfigError", "configmap \"x\" not found"};
  EXPECT_EQ(Plan(runs).starts.size(), 1u);
  EXPECT_EQ(container()["state"]["waiting"]["reason"], "CreateContainerConfigError");
  EXPECT_EQ(container()["state"]["waiting"]["message"], "configmap \"x\" not found");
}

TEST_F(PodPlanTest, ThePodsDeadlineFailsItAndStopsWhatRuns) {
  pod_["spec"]["activeDeadlineSeconds"] = 30;
  pod_["status"] = {{"startTime", FormatRfc3339(kNow - 29s)}};
  EXPECT_EQ(Plan(Running()).wake_at, kNow + 1s);
  pod_["status"] = {{"startTime", FormatRfc3339(kNow - 30s)}};
  EXPECT_EQ(Plan(Running()).stops.size(), 1u);
  EXPECT_EQ(status_["phase"], "Failed");
  EXPECT_EQ(status_["reason"], "DeadlineExceeded");
}

class InitContainerTest : public PodPlanTest {
 protected:
  InitContainerTest() {
    pod_["spec"]["initContainers"] =
        Json::array({{{"name", "one"}, {"image", "i"}}, {{"name", "two"}, {"image", "i"}}});
  }
  std::vector<std::string> Starts(const std::map<std::string, ContainerRuns>& runs) {
    const PodPlan plan = PlanPod(pod_, runs, kNow);
    status_ = Json::parse(plan.status);
    std::vector<std::string> out;
    for (const StartContainer& start : plan.starts) out.push_back(start.container);
    return out;
  }
  Json init(int index) { return status_["initContainerStatuses"][index]; }
};

TEST_F(InitContainerTest, TheyRunOneAfterTheOtherAndTheOthersAfterThem) {
  using testing::ElementsAre;
  EXPECT_THAT(Starts({}), ElementsAre("one"));
  EXPECT_EQ(init(1)["state"]["waiting"]["reason"], "PodInitializing");
  EXPECT_EQ(container()["state"]["waiting"]["reason"], "PodInitializing");
  EXPECT_EQ(Condition("Initialized"), "False");
  EXPECT_EQ(Condition("Initialized", "message"),
            "containers with incomplete status: [one two]");
  EXPECT_THAT(Starts({{"one", Running()}}), ElementsAre());
  EXPECT_EQ(status_["phase"], "Pending");
  EXPECT_THAT(Starts({{"one", Ended(0)}}), ElementsAre("two"));
  EXPECT_EQ(init(0)["ready"], true);
  EXPECT_THAT(Starts({{"one", Ended(0)}, {"two", Ended(0)}}), ElementsAre("c"));
  EXPECT_EQ(Condition("Initialized"), "True");
  Starts({{"one", Ended(0)}, {"two", Ended(0)}, {"c", Ended(0)}});
  EXPECT_EQ(status_["phase"], "Succeeded");
}

TEST_F(InitContainerTest, OneThatFailsIsTriedAgainUnlessThePolicyIsNever) {
  using testing::ElementsAre;
  EXPECT_THAT(Starts({{"one", Ended(1)}}), ElementsAre());
  EXPECT_EQ(status_["phase"], "Failed");
  pod_["spec"]["restartPolicy"] = "Always";
  EXPECT_THAT(Starts({{"one", Ended(1)}}), ElementsAre("one"));
  EXPECT_EQ(status_["phase"], "Pending");
  EXPECT_THAT(Starts({{"one", Ended(0)}}), ElementsAre("two")) << "a success is not run again";
}

TEST_F(InitContainerTest, TheyDoNotShowTheGpuSlotsThatTheyShareWithTheOthers) {
  ContainerRuns one = Running(), c;
  one.gpus = c.gpus = {0};
  Starts({{"one", one}, {"c", c}});
  EXPECT_FALSE(init(0).contains("allocatedResourcesStatus"));
  EXPECT_EQ(container()["allocatedResourcesStatus"][0]["resources"].size(), 1u);
}

TEST_F(InitContainerTest, DeletionStopsTheOneThatRunsAndStartsNoOther) {
  Delete(5s);
  PodPlan plan = PlanPod(pod_, {{"one", Running()}}, kNow);
  ASSERT_EQ(plan.stops.size(), 1u);
  EXPECT_EQ(plan.stops[0].container, "one");
  EXPECT_FALSE(plan.confirm_deletion);
  plan = PlanPod(pod_, {{"one", Ended(143)}}, kNow);
  EXPECT_TRUE(plan.starts.empty());
  EXPECT_TRUE(plan.confirm_deletion);
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
