// Lives of TFJobs under the whole controller, in virtual time: what tools around the old operator
// look at.

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/controller/controller_fixture.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

// The chief ends after two seconds; the others as a program of TensorFlow's would: ps never.
SimCluster::Script ChiefEnds() {
  return [](const std::string& pod, int, milliseconds ran) -> std::optional<int> {
    if (pod.find("-ps-") != std::string::npos) return std::nullopt;
    return ran >= seconds(2) ? std::optional(0) : std::nullopt;
  };
}

std::vector<std::string> ConditionTypes(const json& status) {
  std::vector<std::string> types;
  for (const json& condition : status.value("conditions", json::array())) {
    types.push_back(condition["type"]);
  }
  return types;
}

std::vector<std::string> Reasons(const SimCluster& cluster) {
  std::vector<std::string> reasons;
  for (const json& event : const_cast<SimCluster&>(cluster).api().events()) {
    reasons.push_back(event["reason"]);
  }
  return reasons;
}

std::string MessageOf(SimCluster& cluster, const std::string& reason) {
  for (const json& event : cluster.api().events()) {
    if (event["reason"] == reason) return event["message"];
  }
  return "";
}

TEST(TfJobTest, APodAndAServicePerReplicaAndTheEndIsTheLastCondition) {
  SimCluster cluster(1);
  cluster.set_script(ChiefEnds());
  cluster.CreateTfJob({.chiefs = 1, .ps = 1, .workers = 2});
  ASSERT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
  const std::vector<std::string> names = {"mnist-chief-0", "mnist-ps-0", "mnist-worker-0",
                                          "mnist-worker-1"};
  EXPECT_EQ(cluster.api().Names("pods"), names);
  EXPECT_EQ(cluster.api().Names("services"), names);
  ASSERT_TRUE(cluster.RunUntilState("Succeeded")) << cluster.Job().dump(1);
  cluster.RunFor(seconds(5));
  EXPECT_EQ(ConditionTypes(cluster.Status()).back(), "Succeeded");
  EXPECT_EQ(ConditionTypes(cluster.Status()).front(), "Created");
  // cleanPodPolicy None is what this API's users get without asking.
  EXPECT_EQ(cluster.PhaseOf("mnist-ps-0"), "Running");
  EXPECT_THAT(cluster.api().complaints(), testing::IsEmpty());
  EXPECT_THAT(cluster.metrics().Text(),
              HasSubstr("taas_jobs{job_namespace=\"default\",kind=\"TFJob\","
                        "state=\"Succeeded\"} 1"));
}

TEST(TfJobTest, EventsHaveTheReasonsThatItsToolsKnowAndAreAboutTheTfJob) {
  SimCluster cluster(2);
  cluster.set_script(ChiefEnds());
  cluster.CreateTfJob({.chiefs = 1, .workers = 2}, "Never",
                      json::parse(R"({"runPolicy":{"cleanPodPolicy":"All"}})"));
  ASSERT_TRUE(cluster.RunUntilState("Succeeded")) << cluster.Job().dump(1);
  cluster.RunFor(seconds(5));
  EXPECT_THAT(Reasons(cluster), IsSupersetOf({"SuccessfulCreatePod", "SuccessfulCreateService",
                                              "SuccessfulDeletePod", "TFJobSucceeded"}));
  EXPECT_EQ(MessageOf(cluster, "SuccessfulCreatePod").substr(0, 14), "Created pods: ");
  EXPECT_THAT(MessageOf(cluster, "SuccessfulCreatePod"), HasSubstr("mnist-worker-1"));
  for (const json& event : cluster.api().events()) {
    EXPECT_EQ(event["involvedObject"]["kind"], "TFJob");
    EXPECT_EQ(event["involvedObject"]["apiVersion"], "kubeflow.org/v1");
  }
}

TEST(TfJobTest, ATemplateThatAsksForAnotherRestartPolicyIsToldThatItsRolesCounts) {
  SimCluster cluster(3);
  cluster.CreateTfJob({.workers = 1}, "Never", json::parse(R"({"tfReplicaSpecs":{"Worker":
      {"template":{"spec":{"restartPolicy":"OnFailure"}}}}})"));
  ASSERT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
  EXPECT_THAT(
      MessageOf(cluster, "SetPodTemplateRestartPolicy"),
      HasSubstr("Restart policy in pod template overridden by restart policy in replica spec"));
  EXPECT_EQ(MessageOf(cluster, "SuccessfulCreatePod"), "Created pod: mnist-worker-0");
}

TEST(TfJobTest, AQuietLifeOfTenReplicasCostsAtMostThirtyWrites) {
  SimCluster cluster(4);
  // The workers end with their chief; the ps are left to be ended.
  cluster.set_script([&](const std::string& pod, int, milliseconds ran) -> std::optional<int> {
    if (pod.find("-ps-") != std::string::npos) return std::nullopt;
    if (pod == "mnist-chief-0") return ran >= seconds(2) ? std::optional(0) : std::nullopt;
    return cluster.PhaseOf("mnist-chief-0") == "Succeeded" ? std::optional(0) : std::nullopt;
  });
  cluster.CreateTfJob({.chiefs = 1, .ps = 2, .workers = 7});
  ASSERT_TRUE(cluster.RunUntilState("Succeeded")) << cluster.Job().dump(1);
  cluster.RunFor(seconds(60));
  const auto writes = [&] {
    return cluster.api().writes() - cluster.api().deletes() +
           static_cast<int>(cluster.api().events().size());
  };
  const int life = writes();
  EXPECT_LE(life, 30) << testing::PrintToString(Reasons(cluster));
  cluster.RunFor(seconds(900));
  EXPECT_EQ(writes(), life) << "a finished job costs writes";
}

TEST(TfJobTest, AnExitCodeFromAHundredAndTwentyEightOnIsStartedAgainAndTold) {
  SimCluster cluster(5);
  cluster.set_script([](const std::string& pod, int number,
                        milliseconds ran) -> std::optional<int> {
    if (pod == "mnist-worker-1" && number == 1) return 130;
    return ran >= seconds(5) ? std::optional(0) : std::nullopt;
  });
  cluster.CreateTfJob({.workers = 2}, "ExitCode");
  ASSERT_TRUE(cluster.RunUntilState("Succeeded")) << cluster.Job().dump(1);
  EXPECT_EQ(cluster.api().pod_creates().at("mnist-worker-1"), 2);
  EXPECT_EQ(MessageOf(cluster, "ExitedWithCode"),
            "Pod: default.mnist-worker-1 exited with code 130");
  EXPECT_THAT(Reasons(cluster), testing::Contains("TFJobRestarting"));
  EXPECT_THAT(cluster.metrics().Text(), HasSubstr("kind=\"TFJob\"} 1"));
}

// Symptom: of a job that failed no event told the exit code, and tools that count failures by
// ExitedWithCode saw none.
TEST(TfJobTest, AFailureForGoodIsToldWithItsExitCodeBeforeTheJobsEnd) {
  SimCluster cluster(6);
  cluster.set_script([](const std::string& pod, int, milliseconds) -> std::optional<int> {
    return pod == "mnist-worker-1" ? std::optional(3) : std::nullopt;
  });
  cluster.CreateTfJob({.workers = 2}, "ExitCode");
  ASSERT_TRUE(cluster.RunUntilState("Failed")) << cluster.Job().dump(1);
  EXPECT_EQ(MessageOf(cluster, "ExitedWithCode"),
            "Pod: default.mnist-worker-1 exited with code 3");
  const std::vector<std::string> reasons = Reasons(cluster);
  EXPECT_EQ(std::count(reasons.begin(), reasons.end(), "ExitedWithCode"), 1);
}

TEST(TfJobTest, WithoutItsCrdTheOperatorWorksAndFindsItWhenItComes) {
  SimCluster cluster(6);
  cluster.api().faults().absent = "tfjobs";
  cluster.CrashOperator();
  cluster.RunFor(seconds(2));
  cluster.CreateJob({.workers = 1});
  ASSERT_TRUE(cluster.RunUntilState("Running")) << "TrainingJobs wait for TFJobs";
  cluster.api().DeleteJob("trainingjobs", "mnist");
  cluster.RunFor(seconds(120));
  cluster.api().faults().absent = "";
  cluster.CreateTfJob({.workers = 1});
  ASSERT_TRUE(cluster.RunUntil([&] { return cluster.PhaseOf("mnist-worker-0") == "Running"; },
                               seconds(60)));
}

// Symptom to prevent: an operator under the CRD of an earlier one either ignores such a job in
// silence or breaks over it.
TEST(TfJobTest, AJobThatWasStoredAlthoughItIsInvalidIsFailedWithTheSentence) {
  SimCluster cluster(7);
  cluster.api().Put("tfjobs", json::parse(R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob",
      "metadata":{"name":"mnist"},"spec":{"notTheActualField":{}}})"));
  cluster.CreateTfJob({.workers = 1}, "Never", json::object(), "good");
  ASSERT_TRUE(cluster.RunUntil([&] { return !ConditionTypes(cluster.Status()).empty(); },
                               seconds(30)));
  const json condition = cluster.Status()["conditions"].back();
  EXPECT_EQ(condition["type"], "Failed");
  EXPECT_EQ(condition["reason"], "TFJobFailedValidation");
  EXPECT_THAT(condition["message"].get<std::string>(),
              testing::AllOf(HasSubstr("the spec is invalid"), HasSubstr("tfReplicaSpecs")));
  const int writes = cluster.api().writes();
  EXPECT_TRUE(cluster.RunUntil([&] { return cluster.PhaseOf("good-worker-0") == "Running"; },
                               seconds(30)));
  cluster.RunFor(seconds(60));
  EXPECT_LE(cluster.api().writes() - writes, 8) << "it is told again and again";
  EXPECT_THAT(cluster.api().complaints(), testing::IsEmpty());
}

TEST(TfJobTest, ARunningJobThatIsEditedIntoNonsenseRunsOnAsBefore) {
  SimCluster cluster(8);
  cluster.set_script([](const std::string&, int, milliseconds ran) {
    return ran >= seconds(60) ? std::optional(0) : std::nullopt;
  });
  cluster.CreateTfJob({.workers = 2});
  ASSERT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
  cluster.EditSpec(json::parse(R"({"tfReplicaSpecs":{"Worker":{"replicas":"many"}}})"));
  ASSERT_TRUE(cluster.RunUntil(
      [&] { return cluster.Status().value("message", "").find("replicas") != std::string::npos; },
      seconds(10)))
      << cluster.Job().dump(1);
  // A rule of the kind is as good as a type.
  cluster.EditSpec(json::parse(R"({"tfReplicaSpecs":{"Worker":{"replicas":2},"Boss":{
      "template":{"spec":{"containers":[{"name":"tensorflow","image":"i"}]}}}}})"));
  ASSERT_TRUE(cluster.RunUntil(
      [&] { return cluster.Status().value("message", "").find("Boss") != std::string::npos; },
      seconds(10)))
      << cluster.Job().dump(1);
  // So is an annotation that belongs to the spec.
  json job = cluster.Job();
  job["spec"]["tfReplicaSpecs"].erase("Boss");
  job["metadata"]["annotations"]["taas.dev/pending-deadline-seconds"] = "15m";
  cluster.api().Put("tfjobs", job);
  ASSERT_TRUE(cluster.RunUntil(
      [&] { return cluster.Status().value("message", "").find("deadline") != std::string::npos; },
      seconds(10)))
      << cluster.Job().dump(1);
  cluster.api().Remove("pods", "mnist-worker-1");
  EXPECT_TRUE(cluster.RunUntil(
      [&] { return cluster.api().pod_creates().at("mnist-worker-1") == 2; }, seconds(30)))
      << "nothing is done for it any more";
  EXPECT_TRUE(cluster.RunUntilState("Succeeded")) << cluster.Job().dump(1);
}

TEST(TfJobTest, ATfJobAndATrainingJobOfOneNameDoNotTouchEachOthersPods) {
  SimCluster cluster(9);
  cluster.CreateTfJob({.ps = 1, .workers = 1});
  ASSERT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
  cluster.CreateJob({.workers = 2});
  cluster.RunFor(seconds(30));
  const json* other = cluster.api().Find("trainingjobs", "mnist");
  EXPECT_THAT((*other)["status"].value("message", ""),
              HasSubstr("does not belong to this job (owner: TFJob"));
  EXPECT_EQ(cluster.api().pod_creates().at("mnist-worker-0"), 1);
  EXPECT_EQ(cluster.Status().value("state", ""), "Running");
}

// Symptom: where the CRD of an earlier operator was installed, each look at a job wrote its status
// once more, every five seconds of its life.
TEST(TfJobTest, UnderAnEarlierCrdAStatusThatIsNotKeptIsNotWrittenAgain) {
  SimCluster cluster(31);
  cluster.api().faults().earlier_tfjob_crd = true;
  cluster.set_script([](const std::string& pod, int, milliseconds ran) -> std::optional<int> {
    if (pod.find("-chief-") == std::string::npos) return std::nullopt;
    return ran >= seconds(300) ? std::optional(0) : std::nullopt;
  });
  cluster.CreateTfJob({.chiefs = 1, .ps = 1, .workers = 2});
  ASSERT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
  cluster.RunFor(seconds(10));
  EXPECT_FALSE(cluster.Status().contains("state"));
  const int writes = cluster.api().writes();
  // Each change of a pod makes the operator look at its job.
  for (int look = 0; look < 30; ++look) {
    json pod = *cluster.api().Find("pods", "mnist-ps-0");
    pod["metadata"]["annotations"]["seen"] = std::to_string(look);
    cluster.api().Put("pods", pod);
    cluster.RunFor(seconds(2));
  }
  EXPECT_EQ(cluster.api().writes(), writes) << "of a job that only runs";
  // The next operator has to find out, once.
  cluster.CrashOperator();
  cluster.RunFor(seconds(60));
  EXPECT_LE(cluster.api().idle_patches(), 1);
  ASSERT_TRUE(cluster.RunUntilState("Succeeded")) << cluster.Job().dump(1);
  cluster.RunFor(seconds(30));
  const int at_rest = cluster.api().writes();
  cluster.RunFor(seconds(600));
  EXPECT_EQ(cluster.api().writes(), at_rest);
  EXPECT_LE(cluster.api().idle_patches(), 1);
  EXPECT_EQ(ConditionTypes(cluster.Status()).back(), "Succeeded");
  EXPECT_THAT(cluster.api().complaints(), testing::IsEmpty());
}

// The fields are told as soon as a CRD keeps them.
TEST(TfJobTest, AfterAnEarlierCrdWasReplacedTheStatusComesBackWithTheNextChange) {
  SimCluster cluster(32);
  cluster.api().faults().earlier_tfjob_crd = true;
  cluster.set_script(ChiefEnds());
  cluster.CreateTfJob({.chiefs = 1, .workers = 1});
  ASSERT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
  cluster.api().faults().earlier_tfjob_crd = false;
  ASSERT_TRUE(cluster.RunUntilState("Succeeded")) << cluster.Job().dump(1);
  EXPECT_EQ(cluster.Status().value("state", ""), "Succeeded");
}

// Most programs of users have no page, and of a thousand jobs each poll would cost.
TEST(TfJobTest, AnImageWithoutAPageIsAskedEverLessAndOneThatComesLateIsFound) {
  SimCluster cluster(33);
  cluster.CreateTfJob({.workers = 1});
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  cluster.RunFor(seconds(300));
  EXPECT_EQ(cluster.polls(), 7);  // After 5, 10, 20, 40 and three times 60 s.
  cluster.set_report(R"({"step":500,"state":"Training"})");
  ASSERT_TRUE(cluster.RunUntil(
      [&] { return cluster.Status().value("/progress/step"_json_pointer, 0) == 500; },
      seconds(61)));
  const int polls = cluster.polls();
  cluster.RunFor(seconds(60));
  EXPECT_EQ(cluster.polls() - polls, 12);
}

TEST(TfJobTest, AJobThatAnotherControllerManagesIsLeftAlone) {
  SimCluster cluster(10);
  cluster.CreateTfJob({.workers = 1}, "Never",
                      json::parse(R"({"runPolicy":{"managedBy":"kueue.x-k8s.io/multikueue"}})"));
  cluster.RunFor(seconds(60));
  EXPECT_EQ(cluster.api().writes(), 0);
  EXPECT_THAT(cluster.api().events(), testing::IsEmpty());
}

// Symptom: a ledger that somebody spoilt failed the TFJob for good, as if its spec were invalid.
TEST(TfJobLedgerTest, OneThatCannotBeReadIsToldOfAndTheJobGoesOnWithoutIt) {
  SimCluster cluster(31);
  cluster.CreateTfJob({.workers = 1}, "ExitCode");
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  json job = cluster.Job();
  job["metadata"]["annotations"]["taas.dev/ledger"] = "not json";
  cluster.api().Put("tfjobs", job);
  cluster.RunFor(seconds(5));
  EXPECT_THAT(cluster.Status().value("message", ""), HasSubstr("taas.dev/ledger"));
  EXPECT_THAT(cluster.Status().dump(), Not(HasSubstr("TFJobFailedValidation")));
  job = cluster.Job();
  job["metadata"]["annotations"].erase("taas.dev/ledger");
  cluster.api().Put("tfjobs", job);
  ASSERT_TRUE(cluster.RunUntil([&] { return !cluster.Ledger().empty(); }, seconds(30)));
  EXPECT_TRUE(cluster.RunUntilState("Running"));
  EXPECT_EQ(cluster.api().pod_creates().at("mnist-worker-0"), 1);
}

}  // namespace
}  // namespace taas
