// Lives of jobs under the whole controller, in virtual time.

#include "operator/controller/controller.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/controller/controller_fixture.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// The chief trains for two seconds; the others leave when it has ended.
SimCluster::Script OrdinaryLife(SimCluster& cluster) {
  return [&cluster](const std::string& pod, int, milliseconds ran) -> std::optional<int> {
    if (pod == "mnist-chief-0") return ran >= seconds(2) ? std::optional(0) : std::nullopt;
    return cluster.PhaseOf("mnist-chief-0") == "Succeeded" ? std::optional(0) : std::nullopt;
  };
}

TEST(ControllerTest, AJobIsBroughtToItsEndAndItsStatusTellsTheTruth) {
  SimCluster cluster(1);
  cluster.set_script(OrdinaryLife(cluster));
  cluster.CreateJob({.chiefs = 1, .ps = 2, .workers = 2});
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  ASSERT_TRUE(cluster.RunUntilState("Succeeded")) << cluster.Job().dump(1);
  const json status = cluster.Status();
  EXPECT_EQ(status["replicaStatuses"]["worker"]["succeeded"], 2);
  EXPECT_EQ(status["progress"]["step"], 2000);
  EXPECT_EQ(status["progress"]["percent"], 100);
  EXPECT_EQ(cluster.api().pod_creates().size(), 5u);
  EXPECT_NE(cluster.api().Find("services", "mnist"), nullptr);
  EXPECT_THAT(cluster.api().complaints(), testing::IsEmpty());
  EXPECT_THAT(cluster.metrics().Text(),
              HasSubstr("taas_jobs{job_namespace=\"default\",kind=\"TrainingJob\","
                        "state=\"Succeeded\"} 1"));
}

// The token of a pod's environment; "" without one.
std::string TokenOf(SimCluster& cluster, const std::string& pod) {
  const json* const found = cluster.api().Find("pods", pod);
  if (found == nullptr) return "";
  for (const json& variable : (*found)["spec"]["containers"][0]["env"]) {
    if (variable["name"] == "TAAS_JOB_TOKEN") return variable["value"];
  }
  return "";
}

TEST(ControllerTest, AllPodsOfAJobHaveOneTokenThatOutlivesTheOperatorAndIsNotInTheStatus) {
  std::set<std::string> tokens;
  for (const bool tfjob : {false, true}) {
    SimCluster cluster(tfjob ? 2 : 1);
    const SimCluster::Roles roles{.chiefs = 1, .ps = 1, .workers = 1};
    if (tfjob) {
      cluster.CreateTfJob(roles, "OnFailure");
    } else {
      cluster.CreateJob(roles);
    }
    ASSERT_TRUE(cluster.RunUntilState("Running"));
    const std::string token = TokenOf(cluster, "mnist-chief-0");
    EXPECT_EQ(token.size(), 32u);
    EXPECT_EQ(cluster.Ledger()["token"], token);
    EXPECT_EQ(TokenOf(cluster, "mnist-ps-0"), token);
    cluster.CrashOperator();
    cluster.api().Remove("pods", "mnist-worker-0");
    ASSERT_TRUE(cluster.RunUntil(
        [&] { return cluster.PhaseOf("mnist-worker-0") == "Running"; }, seconds(120)));
    EXPECT_EQ(TokenOf(cluster, "mnist-worker-0"), token);
    EXPECT_THAT(cluster.Status().dump(), Not(HasSubstr(token)));
    EXPECT_THAT(cluster.metrics().Text(), Not(HasSubstr(token)));
    tokens.insert(token);
  }
  EXPECT_EQ(tokens.size(), 2u) << "each job has its own";
}

// Symptom (averted): an upgrade of the operator gave the next pod of a running job a token that the
// others did not have.
TEST(ControllerTest, AJobThatRunsWithoutATokenKeepsRunningWithout) {
  SimCluster cluster(3);
  cluster.CreateJob({.chiefs = 1, .ps = 1, .workers = 1});
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  // As an operator of before left it.
  json job = cluster.Job();
  json ledger = cluster.Ledger();
  ledger.erase("token");
  job["metadata"]["annotations"]["taas.dev/ledger"] = ledger.dump();
  cluster.api().Put("trainingjobs", job);
  cluster.RunFor(seconds(5));
  cluster.CrashOperator();
  cluster.api().Remove("pods", "mnist-worker-0");
  ASSERT_TRUE(cluster.RunUntil(
      [&] { return cluster.PhaseOf("mnist-worker-0") == "Running"; }, seconds(120)));
  EXPECT_EQ(TokenOf(cluster, "mnist-worker-0"), "");
  EXPECT_FALSE(cluster.Ledger().contains("token"));
  // A new attempt begins without pods.
  cluster.EditSpec({{"suspend", true}});
  ASSERT_TRUE(cluster.RunUntilState("Suspended"));
  cluster.RunFor(seconds(60));
  cluster.EditSpec({{"suspend", false}});
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  EXPECT_EQ(TokenOf(cluster, "mnist-worker-0").size(), 32u);
  EXPECT_EQ(TokenOf(cluster, "mnist-worker-0"), TokenOf(cluster, "mnist-ps-0"));
}

// What says who wrote each field is left out where a job is read, and nothing else.
TEST(ControllerTest, AJobIsReadWhoeverWroteItsFields) {
  SimCluster cluster(18);
  cluster.set_script(OrdinaryLife(cluster));
  cluster.api().faults().hold_watches = true;
  cluster.CreateJob({.chiefs = 1, .ps = 1, .workers = 1});
  json job = cluster.Job();
  job["metadata"]["managedFields"] = {
      {{"manager", "a } ] \" in a name"}, {"fieldsV1", {{"f:spec", json::object()}}}},
      {{"manager", "kubectl"}}};
  job["metadata"]["annotations"]["example.com/notes"] = R"({"managedFields":[7],"metadata":{}})";
  cluster.api().Put("trainingjobs", job);
  cluster.api().faults().hold_watches = false;
  ASSERT_TRUE(cluster.RunUntilState("Succeeded")) << cluster.Job().dump(1);
  EXPECT_EQ(cluster.Status()["replicaStatuses"]["worker"]["succeeded"], 1);
  EXPECT_THAT(cluster.api().complaints(), testing::IsEmpty());
}

// Of a metric without labels; -1: there is none.
double ValueOf(SimCluster& cluster, const std::string& name) {
  const std::string text = cluster.metrics().Text();
  const size_t at = text.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
}

TEST(ControllerTest, TheFirstPodOfALaunchIsMeasuredBeforeTheOthersExist) {
  SimCluster cluster(16);
  cluster.CreateJob({.workers = 200});
  ASSERT_TRUE(cluster.RunUntil(
      [&] { return ValueOf(cluster, "taas_first_pod_seconds_count") == 1; }, seconds(5)));
  EXPECT_LT(cluster.api().pod_creates().size(), 200u);
}

TEST(ControllerTest, ALaunchLastsUntilAllReplicasRunNotUntilTrainingBegins) {
  SimCluster cluster(17);
  cluster.set_unschedulable("mnist-worker-1");
  cluster.CreateJob({.chiefs = 1, .ps = 1, .workers = 2});
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  cluster.RunFor(seconds(60));
  EXPECT_EQ(ValueOf(cluster, "taas_all_pods_seconds_count"), 0);
  cluster.set_unschedulable("");
  cluster.RunFor(seconds(20));
  EXPECT_EQ(ValueOf(cluster, "taas_all_pods_seconds_count"), 1);
  EXPECT_GT(ValueOf(cluster, "taas_all_pods_seconds_sum"), 60);
}

TEST(ControllerTest, GpusThatAJobAsksForAndHoldsAreCountedUntilItsEnd) {
  SimCluster cluster(19);
  cluster.set_script(OrdinaryLife(cluster));
  const auto value = [&](const std::string& name) {
    return ValueOf(cluster, name + R"({job_namespace="default",kind="TrainingJob"})");
  };
  cluster.CreateJob({.chiefs = 1, .workers = 2});
  json job = cluster.Job();
  job["spec"]["roles"]["worker"]["gpus"] = 3;
  cluster.api().Put("trainingjobs", job);
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  EXPECT_EQ(value("taas_gpus_requested"), 6);
  ASSERT_TRUE(cluster.RunUntil([&] { return value("taas_gpus_held") == 6; }, seconds(60)));
  cluster.set_report(R"({"gpus":[{"utilization":0.5}],"peers":[{"gpus":[{"utilization":0.25}]}]})");
  ASSERT_TRUE(cluster.RunUntil([&] { return value("taas_gpus_busy") == 0.75; }, seconds(60)));
  ASSERT_TRUE(cluster.RunUntilState("Succeeded"));
  cluster.RunFor(seconds(30));
  EXPECT_EQ(value("taas_gpus_requested"), 0);
  EXPECT_EQ(value("taas_gpus_held"), 0);
  EXPECT_EQ(value("taas_gpus_busy"), 0);
}

TEST(ControllerTest, WhatTheTimeOfRanksGoesToIsCountedUntilTheEnd) {
  SimCluster cluster(19);
  cluster.set_script(OrdinaryLife(cluster));
  const auto value = [&](const std::string& name) {
    return ValueOf(cluster, name + R"({job_namespace="default",kind="TrainingJob"})");
  };
  cluster.CreateJob({.chiefs = 1, .workers = 2});
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  cluster.set_report(
      R"({"role":"chief","index":0,"shares":{"compute":0.5,"wait":0.25},"slowest":"worker-1",
          "peers":[{"role":"worker","index":1,"shares":{"compute":0.75,"wait":7}}]})");
  ASSERT_TRUE(cluster.RunUntil([&] { return value("taas_ranks_measured") == 2; }, seconds(60)));
  EXPECT_EQ(value("taas_jobs_with_slowest_rank"), 1);
  const std::string waits =
      R"(taas_rank_time_shares{job_namespace="default",kind="TrainingJob",part="wait"})";
  EXPECT_EQ(ValueOf(cluster, waits), 1.25)
      << "no rank waits for more than all of its time";
  ASSERT_TRUE(cluster.RunUntilState("Succeeded"));
  cluster.RunFor(seconds(30));
  EXPECT_EQ(value("taas_ranks_measured"), 0);
  EXPECT_EQ(value("taas_jobs_with_slowest_rank"), 0);
}

TEST(ControllerTest, JobsThatWaitForTheirTurnAndLooksAreCounted) {
  SimCluster cluster(14);
  const auto value = [&](const std::string& name) { return ValueOf(cluster, name); };
  double longest = 0;
  cluster.set_before_plan(
      [&](const Snapshot&) { longest = std::max(longest, value("taas_queue_depth")); });
  for (const char* name : {"a", "b", "c"}) cluster.CreateJob({.workers = 1}, json::object(), name);
  cluster.RunFor(seconds(5));
  EXPECT_GE(longest, 1);
  EXPECT_EQ(value("taas_queue_depth"), 0);
  EXPECT_GE(value("taas_reconcile_seconds_count"), 3);
}

// Symptom: each event of a pod led to a look at all pods of its job, and an operator with one job
// of a thousand pods did nothing else.
TEST(ControllerTest, EventsOfManyPodsLeadToFewLooksAndThoseOfAFewToOneEach) {
  const auto looks_at = [](int workers) {
    SimCluster cluster(15);
    cluster.CreateJob({.workers = workers});
    EXPECT_TRUE(cluster.RunUntilState("Running"));
    cluster.RunFor(seconds(30));
    int looks = 0;
    cluster.set_before_plan([&](const Snapshot&) { ++looks; });
    for (int i = 0; i < 50; ++i) {
      json pod = *cluster.api().Find("pods", "mnist-worker-0");
      pod["status"]["reason"] = "Reason" + std::to_string(i);
      cluster.api().Put("pods", pod);
      cluster.RunFor(milliseconds(2));
    }
    return looks;
  };
  EXPECT_GE(looks_at(1), 40);
  EXPECT_LE(looks_at(400), 10) << "20 ms each, in 100 ms";
}

// Symptom: each pod that got a node and each that ran led to a look at its job, and of many jobs
// the same state was written twice, for the first replicas that ran and for the last.
TEST(ControllerTest, PodsThatStartAreLookedAtTogetherAndOneInTroubleAtOnce) {
  SimCluster cluster(15);
  cluster.CreateJob({.workers = 10});
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  cluster.RunFor(seconds(30));
  int looks = 0;
  cluster.set_before_plan([&](const Snapshot&) { ++looks; });
  const auto change = [&](int worker, const json& status) {
    json pod = *cluster.api().Find("pods", "mnist-worker-" + std::to_string(worker));
    pod["status"].merge_patch(status);
    cluster.api().Put("pods", std::move(pod));
    cluster.RunFor(milliseconds(5));
  };
  const auto waits = [](const std::string& reason) {
    return json{{"phase", "Pending"},
                {"containerStatuses",
                 {{{"name", "trainer"}, {"state", {{"waiting", {{"reason", reason}}}}}}}}};
  };
  const json running = {
      {"phase", "Running"},
      {"podIP", "10.0.1.1"},
      {"containerStatuses",
       {{{"name", "trainer"},
         {"ready", true},
         {"state", {{"running", {{"startedAt", "2026-01-01T00:00:00Z"}}}}}}}}};
  const auto becomes = [](const char* condition, const char* status) {
    return json{{"conditions", {{{"type", condition}, {"status", status}}}}};
  };
  // As a kubelet tells of a pod that starts again from the beginning.
  change(3, waits(""));
  cluster.RunFor(milliseconds(200));
  looks = 0;
  change(3, waits("ContainerCreating"));
  change(3, running);
  change(3, becomes("Ready", "True"));
  EXPECT_EQ(looks, 0);
  cluster.RunFor(milliseconds(100));
  EXPECT_EQ(looks, 1);
  const std::vector<json> troubles = {becomes("Ready", "False"), waits("ErrImagePull"),
                                      becomes("DisruptionTarget", "True"),
                                      {{"reason", "NodeLost"}}};
  for (const json& trouble : troubles) {
    const int before = looks;
    change(3, trouble);
    EXPECT_EQ(looks, before + 1) << trouble;
    cluster.RunFor(milliseconds(200));
  }
}

// Symptom: kubectl get showed an empty STATE, since only what differed from the defaults was
// written.
TEST(ControllerTest, AJobThatWaitsHasAStateThoughItIsTheDefault) {
  SimCluster cluster(13);
  cluster.CreateJob({.workers = 1});
  ASSERT_TRUE(cluster.RunUntil([&] { return !cluster.Status().empty(); }, seconds(5)));
  EXPECT_EQ(cluster.Status().value("state", ""), "Pending");
  EXPECT_EQ(cluster.Status().value("attempt", 0), 1);
}

TEST(ControllerTest, AQuietLifeOfTenReplicasCostsAtMostTwentyTwoWritesAndAFinishedJobNone) {
  SimCluster cluster(2);
  cluster.set_script(OrdinaryLife(cluster));
  cluster.CreateJob({.chiefs = 1, .ps = 2, .workers = 7});
  ASSERT_TRUE(cluster.RunUntilState("Succeeded"));
  cluster.RunFor(seconds(60));
  const auto writes = [&] {
    return cluster.api().writes() - cluster.api().deletes() +
           static_cast<int>(cluster.api().events().size());
  };
  const int life = writes();
  EXPECT_LE(life, 22) << "of which events: " << cluster.api().events().size();
  cluster.RunFor(seconds(900));
  EXPECT_EQ(writes(), life);
}

TEST(ControllerTest, AKilledWorkerComesBackWithTheNextNumberAndIsCounted) {
  SimCluster cluster(3);
  const auto ordinary = OrdinaryLife(cluster);
  cluster.set_script([&](const std::string& pod, int number,
                         milliseconds ran) -> std::optional<int> {
    if (pod == "mnist-worker-0" && number == 1 && ran >= milliseconds(300)) return 137;
    return ordinary(pod, number, ran);
  });
  cluster.CreateJob({.chiefs = 1, .ps = 1, .workers = 1});
  ASSERT_TRUE(cluster.RunUntilState("Succeeded")) << cluster.Job().dump(1);
  EXPECT_EQ(cluster.Status()["restarts"]["killed"], 1);
  EXPECT_EQ(cluster.api().pod_creates().at("mnist-worker-0"), 2);
  EXPECT_EQ(cluster.api().pod_creates().at("mnist-chief-0"), 1);
  EXPECT_THAT(cluster.metrics().Text(),
              HasSubstr("taas_restarts_total{cause=\"killed\",job_namespace=\"default\","
                        "kind=\"TrainingJob\"} 1"));
}

TEST(ControllerTest, ADeletedPodComesBackAndCountsAsPreempted) {
  SimCluster cluster(4);
  cluster.CreateJob({.workers = 1});
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  cluster.api().Remove("pods", "mnist-worker-0");
  ASSERT_TRUE(cluster.RunUntil(
      [&] { return cluster.Status().value("/restarts/preempted"_json_pointer, 0) == 1; },
      seconds(10)));
  EXPECT_TRUE(cluster.RunUntilState("Running"));
}

TEST(ControllerTest, AFailedJobQuotesItsProcessAndKeepsThePodForItsLog) {
  SimCluster cluster(5);
  cluster.set_script([](const std::string& pod, int, milliseconds ran) -> std::optional<int> {
    if (pod == "mnist-worker-1" && ran > milliseconds(300)) return 1;
    return std::nullopt;
  });
  cluster.CreateJob({.ps = 1, .workers = 2});
  ASSERT_TRUE(cluster.RunUntilState("Failed"));
  cluster.RunFor(seconds(5));
  EXPECT_EQ(cluster.Status()["message"], "worker-1 failed for good: exit code 1: it broke");
  EXPECT_EQ(cluster.api().Names("pods"), std::vector<std::string>{"mnist-worker-1"});
}

TEST(ControllerTest, AReplicaThatKeepsFailingIsDelayedAndThenEndsTheJob) {
  SimCluster cluster(6);
  cluster.set_script([](const std::string&, int, milliseconds) { return std::optional(138); });
  cluster.CreateJob({.workers = 1});
  const auto begun = cluster.executor().clock().Now();
  ASSERT_TRUE(cluster.RunUntilState("Failed"));
  EXPECT_EQ(cluster.api().pod_creates().at("mnist-worker-0"), 7);
  // 0 + 1 + 2 + 4 + 8 + 16 s between the seven pods.
  EXPECT_GE(cluster.executor().clock().Now() - begun, seconds(31));
  EXPECT_LE(cluster.executor().clock().Now() - begun, seconds(40));
}

TEST(ControllerTest, ProgressComesFromTheChiefAndIsWrittenAtMostEveryTenSeconds) {
  SimCluster cluster(7);
  cluster.set_report(R"({"step":500,"examplesPerSecond":20000,"state":"Training"})");
  cluster.CreateJob({.workers = 1});
  ASSERT_TRUE(cluster.RunUntil(
      [&] { return cluster.Status().value("/progress/step"_json_pointer, 0) == 500; },
      seconds(20)));
  EXPECT_EQ(cluster.Status()["progress"]["percent"], 25);
  const int writes = cluster.api().writes();
  int step = 500;
  for (int i = 0; i < 60; ++i) {
    cluster.set_report(json{{"step", ++step}}.dump());
    cluster.RunFor(seconds(1));
  }
  EXPECT_LE(cluster.api().writes() - writes, 7);
  EXPECT_GE(cluster.api().writes() - writes, 5);
}

TEST(ControllerTest, AReportOfAnotherJobOnAReusedPortIsNotBelieved) {
  SimCluster cluster(8);
  cluster.set_report(R"({"uid":"another","step":500})");
  cluster.CreateJob({.workers = 1});
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  cluster.RunFor(seconds(20));
  EXPECT_GT(cluster.polls(), 2);
  EXPECT_FALSE(cluster.Status().contains("progress"));
}

TEST(ControllerTest, AForeignPodUnderOurNameIsNamedInTheMessageAndSurvives) {
  SimCluster cluster(9);
  cluster.api().Put("pods",
                    {{"metadata", {{"name", "mnist-worker-0"}}}, {"status", {{"phase", "x"}}}});
  cluster.CreateJob({.workers = 1});
  ASSERT_TRUE(cluster.RunUntil(
      [&] { return cluster.Status().value("message", "").find("does not belong") !=
                   std::string::npos; },
      seconds(10)))
      << cluster.Job().dump(1);
  cluster.RunFor(seconds(300));
  EXPECT_NE(cluster.api().Find("pods", "mnist-worker-0"), nullptr);
  cluster.api().Remove("pods", "mnist-worker-0");
  EXPECT_TRUE(cluster.RunUntilState("Running"));
}

TEST(ControllerTest, OnTheLocalClusterPortsAreRecordedBeforeThePodsAndGivenToThem) {
  SimCluster cluster(10, AddressScheme::kLoopback);
  cluster.CreateJob({.ps = 1, .workers = 1});
  ASSERT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
  const json* pod = cluster.api().Find("pods", "mnist-worker-0");
  EXPECT_EQ((*pod)["spec"]["containers"][0]["ports"][0]["containerPort"], 20002);
  EXPECT_THAT(cluster.Ledger().dump(), HasSubstr("20002"));
  EXPECT_TRUE(cluster.api().Names("services").empty());
}

TEST(ControllerTest, TheCreationOfAllPodsIsOneEvent) {
  SimCluster cluster(11);
  cluster.CreateJob({.chiefs = 1, .ps = 2, .workers = 3});
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  ASSERT_EQ(cluster.api().events().size(), 1u);
  EXPECT_EQ(cluster.api().events()[0]["message"], "created 6 pods (1 chief, 2 ps, 3 worker)");
  EXPECT_EQ(cluster.api().events()[0]["involvedObject"]["kind"], "TrainingJob");
}

TEST(ControllerTest, EndsOfSeveralReplicasAreWrittenDownTogether) {
  SimCluster cluster(21);
  cluster.CreateJob({.chiefs = 1, .ps = 1, .workers = 8});
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  cluster.RunFor(seconds(10));
  const int before = cluster.api().writes();
  for (int i = 0; i < 8; ++i) {
    json pod = *cluster.api().Find("pods", "mnist-worker-" + std::to_string(i));
    pod["status"]["phase"] = "Succeeded";
    pod["status"]["containerStatuses"][0]["state"] = {{"terminated", {{"exitCode", 0}}}};
    cluster.api().Put("pods", std::move(pod));
    cluster.RunFor(milliseconds(10));
  }
  cluster.RunFor(seconds(10));
  EXPECT_EQ(cluster.Status()["replicaStatuses"]["worker"].value("succeeded", 0), 8)
      << cluster.Job().dump(1);
  EXPECT_EQ(cluster.api().writes() - before, 2) << "the ledger and the status";
}

// Symptom: a job whose ledger could not be written had an empty status for ever.
TEST(ControllerTest, ARefusedLedgerIsToldInTheMessageAndTriedAgain) {
  SimCluster cluster(14);
  cluster.api().faults().refuse_ledger = true;
  cluster.CreateJob({.workers = 1});
  ASSERT_TRUE(cluster.RunUntil(
      [&] { return cluster.Status().value("message", "").find("not allowed") !=
                   std::string::npos; },
      seconds(10)))
      << cluster.Job().dump(1);
  EXPECT_THAT(cluster.Status().value("message", ""),
              HasSubstr("write the ledger of default/mnist"));
  cluster.RunFor(seconds(60));
  EXPECT_TRUE(cluster.api().pod_creates().empty());
  EXPECT_LE(cluster.api().writes(), 20);
  cluster.api().faults().refuse_ledger = false;
  EXPECT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
}

// Symptom: a status that was refused once, as an API server that has just started may do, stayed
// as it was for five minutes.
TEST(ControllerTest, ARefusedStatusIsTriedAgainEverMoreSlowly) {
  SimCluster cluster(18);
  cluster.api().faults().refuse_status = true;
  cluster.CreateJob({.workers = 1});
  cluster.RunFor(seconds(6));
  cluster.api().faults().refuse_status = false;
  EXPECT_TRUE(cluster.RunUntil(
      [&] { return cluster.Status().value("state", "") == "Running"; }, seconds(15)));
  SimCluster other(18);
  other.api().faults().refuse_status = true;
  other.CreateJob({.workers = 1});
  other.RunFor(seconds(600));
  EXPECT_LE(other.api().writes(), 20);
}

// Symptom: a job whose pod's name was taken waited without a word, where the operator may not look
// whose pod that is.
TEST(ControllerTest, ARightToReadThatIsMissingStandsInTheMessage) {
  SimCluster cluster(19);
  cluster.api().Put("pods", {{"metadata", {{"name", "mnist-worker-0"}, {"namespace", "default"}}}});
  cluster.api().faults().refuse_get_of = "pods";
  cluster.CreateJob({.workers = 1});
  EXPECT_TRUE(cluster.RunUntil(
      [&] { return cluster.Status().value("message", "").find("not allowed to get") !=
                   std::string::npos; },
      seconds(10)))
      << cluster.Job().dump(1);
}

TEST(ControllerTest, ARefusalThatIsWordedAnewEachTimeIsOneEvent) {
  SimCluster cluster(15);
  cluster.api().faults().refuse_post_of = "pods";
  cluster.CreateJob({.workers = 2});
  cluster.RunFor(seconds(600));
  ASSERT_EQ(cluster.api().events().size(), 1u);
  EXPECT_EQ(cluster.api().events()[0]["reason"], "Refused");
  EXPECT_THAT(cluster.Status().value("message", ""), HasSubstr("not allowed"));
}

// Symptom: under a quota of two pods a job had two workers, which waited for a parameter server
// that the quota kept out.
TEST(ControllerTest, UnderAQuotaThePodsAreMadeThatTrainingBeginsWith) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SimCluster cluster(seed);
    cluster.api().faults().pods_max = 2;
    cluster.CreateJob({.chiefs = 1, .ps = 1, .workers = 3});
    ASSERT_TRUE(cluster.RunUntilState("Running")) << seed << cluster.Job().dump(1);
    EXPECT_THAT(cluster.api().Names("pods"), ElementsAre("mnist-chief-0", "mnist-ps-0")) << seed;
    EXPECT_THAT(cluster.Status().value("message", ""),
                AllOf(HasSubstr("exceeded quota"),
                      HasSubstr("training goes on without worker-0, worker-1 and worker-2")));
    cluster.api().faults().pods_max = 0;
    EXPECT_TRUE(cluster.RunUntil([&] { return cluster.api().Names("pods").size() == 5; },
                                 seconds(400)))
        << seed;
  }
}

// Symptom: after the manifest had been repaired nothing was made for up to five minutes more, and
// the message went on to tell of the refusal.
TEST(ControllerTest, ARepairedSpecDoesNotWaitForTheRefusalOfTheOldOne) {
  SimCluster cluster(17);
  cluster.api().faults().refuse_post_of = "pods";
  cluster.CreateJob({.workers = 2});
  cluster.RunFor(seconds(400));  // By now the next try is minutes away.
  ASSERT_THAT(cluster.Status().value("message", ""), HasSubstr("not allowed"));
  cluster.api().faults().refuse_post_of = "";
  cluster.EditSpec({{"roles", {{"worker", {{"resources", {{"limits", {{"cpu", "1"}}}}}}}}}});
  EXPECT_TRUE(
      cluster.RunUntil([&] { return cluster.api().pod_creates().size() == 2; }, seconds(3)));
  ASSERT_TRUE(cluster.RunUntilState("Running")) << cluster.Job().dump(1);
  EXPECT_THAT(cluster.Status().dump(), Not(HasSubstr("not allowed")));
}

TEST(ControllerTest, AJobThatBreaksAnInvariantIsMarkedAndTheOthersGoOn) {
  SimCluster cluster(16);
  bool broken = true;
  int plans = 0;
  cluster.set_before_plan([&](const Snapshot& snapshot) {
    if (snapshot.job.meta.name != "spoilt") return;
    ++plans;
    if (broken) throw std::out_of_range("map::at");
  });
  cluster.set_script(OrdinaryLife(cluster));
  cluster.CreateJob({.chiefs = 1}, json::object(), "spoilt");
  cluster.CreateJob({.chiefs = 1, .workers = 1});
  ASSERT_TRUE(cluster.RunUntilState("Succeeded")) << cluster.Job().dump(1);
  const auto spoilt = [&] { return (*cluster.api().Find("trainingjobs", "spoilt"))["status"]; };
  EXPECT_EQ(spoilt().value("message", ""), "InternalError: map::at");
  EXPECT_EQ(spoilt()["conditions"][0]["type"], "InternalError");
  EXPECT_EQ(spoilt()["conditions"][0]["status"], "True");
  EXPECT_EQ(cluster.api().Find("pods", "spoilt-chief-0"), nullptr);
  cluster.RunFor(seconds(60));
  EXPECT_LE(plans, 30) << "the retries are not delayed";
  broken = false;
  EXPECT_TRUE(cluster.RunUntil([&] { return spoilt().value("state", "") == "Succeeded"; },
                               seconds(600)))
      << spoilt().dump(1);
  EXPECT_EQ(spoilt()["conditions"][0]["status"], "False");
}

// A status that somebody, or the program itself through its /status, has made unreadable.
void SpoilStatus(SimCluster& cluster) {
  json job = cluster.Job();
  job["status"]["progress"]["etaSeconds"] = json::parse("9223372036854775808");
  job["status"]["conditions"][0]["lastTransitionTime"] = "soon";
  cluster.api().Put("trainingjobs", job);
}

// Symptom: a job whose status had a number that could not be read ran on after spec.suspend, which
// is also how Kueue takes its GPUs away, and after its deadline.
TEST(ControllerTest, AJobWhoseStatusCannotBeReadIsSuspendedAndEndedAsAnyOther) {
  SimCluster cluster(12);
  cluster.CreateJob({.chiefs = 1, .workers = 1});
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  SpoilStatus(cluster);
  cluster.EditSpec({{"suspend", true}});
  ASSERT_TRUE(cluster.RunUntilState("Suspended")) << cluster.Job().dump(1);
  EXPECT_TRUE(cluster.RunUntil([&] { return cluster.api().Names("pods").empty(); }, seconds(60)));
  EXPECT_TRUE(cluster.Status()["conditions"].is_array()) << cluster.Job().dump(1);
  EXPECT_EQ(cluster.Status()["progress"], json()) << "what cannot be read stayed";
  cluster.EditSpec({{"suspend", false}});
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  SpoilStatus(cluster);
  cluster.EditSpec({{"activeDeadlineSeconds", 30}, {"ttlSecondsAfterFinished", 60}});
  ASSERT_TRUE(cluster.RunUntilState("Failed")) << cluster.Job().dump(1);
  SpoilStatus(cluster);
  EXPECT_TRUE(cluster.RunUntil([&] { return cluster.Job().empty(); }, seconds(300)));
}

TEST(ControllerTest, AStatusThatCannotBeReadIsWrittenAnewOnce) {
  SimCluster cluster(12);
  cluster.CreateJob({.chiefs = 1, .workers = 1});
  ASSERT_TRUE(cluster.RunUntilState("Running"));
  cluster.RunFor(seconds(30));
  SpoilStatus(cluster);
  const int before = cluster.api().writes();
  cluster.RunFor(seconds(30));
  EXPECT_EQ(cluster.api().writes(), before + 1);
  EXPECT_EQ(cluster.Status().value("state", ""), "Running");
  EXPECT_EQ(cluster.Status().value("ready", ""), "2/2");
}

TEST(ControllerTest, AWipedStatusIsRebuilt) {
  SimCluster cluster(12);
  cluster.set_script(OrdinaryLife(cluster));
  cluster.CreateJob({.chiefs = 1, .workers = 1});
  ASSERT_TRUE(cluster.RunUntilState("Succeeded"));
  json job = cluster.Job();
  job.erase("status");
  cluster.api().Put("trainingjobs", job);
  EXPECT_TRUE(cluster.RunUntilState("Succeeded"));
  cluster.RunFor(seconds(60));
  EXPECT_EQ(cluster.api().pod_creates().at("mnist-chief-0"), 1);
}

}  // namespace
}  // namespace taas
