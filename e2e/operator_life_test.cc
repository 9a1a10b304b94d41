// What the pods of a job of either kind get, and what becomes of them, on a real kube-apiserver:
// environment, the role's template, policies, changes of a stored job, many jobs at once. The test
// plays the kubelet.

#include <set>

#include "absl/time/clock.h"
#include "e2e/contract_fixture.h"
#include "gmock/gmock.h"

namespace taas {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Key;
using testing::Not;
using testing::Pair;

constexpr char kEndedJob[] =
    "the job has ended: delete it first, or apply this under another name";
constexpr int kDeadlineSeconds = 2;

class LifeTest : public ContractFixture {
 protected:
  // All pods that do not run yet do.
  void RunWhoWaits() {
    const json pods = Call("GET", kPodsPath);
    for (const json& pod : pods["items"]) {
      if (!pod["status"].contains("containerStatuses")) Run(pod["metadata"]["name"]);
    }
  }
  // The jobs with this in their names that do not have the state.
  std::set<std::string> Others(const std::string& word, const std::string& state) {
    std::set<std::string> others;
    for (const char* path : {kTrainingJobsPath, kTfJobsPath}) {
      const json jobs = Call("GET", path);
      for (const json& job : jobs["items"]) {
        const std::string name = job["metadata"]["name"];
        const bool meant = name.find(word) != std::string::npos;
        const bool there = job.value("/status/state"_json_pointer, "") == state;
        if (meant && !there) others.insert(name);
      }
    }
    return others;
  }
};

TEST_F(LifeTest, EachReplicaIsToldWhoItIs) {
  const std::map<std::string, int> roles = {
      {"chief", 1}, {"ps", 2}, {"worker", 2}, {"evaluator", 1}};
  for (const PlayedJob& job : StartAndRun("told", {.roles = roles})) {
    SCOPED_TRACE(job.kind());
    const std::string uid = Stored(job)["metadata"]["uid"];
    const std::string domain =
        job.tf ? ".default.svc:2222" : "." + job.name + ".default.svc:2222";
    for (const auto& [role, replicas] : roles) {
      const std::string index = std::to_string(replicas - 1);
      const auto env = Environment(job.Pod(role, replicas - 1));
      EXPECT_THAT(env, IsSupersetOf(std::map<std::string, std::string>{
                           {"TAAS_JOB", "default/" + job.name},
                           {"TAAS_JOB_UID", uid},
                           {"TAAS_ROLE", role},
                           {"TAAS_INDEX", index},
                           {"TAAS_ATTEMPT", "1"},
                           {"TAAS_POD_NUMBER", "1"},
                           {"TAAS_JOB_NAME", role},
                           {"TAAS_TASK_INDEX", index},
                           {"TAAS_STATUS_PORT", "2223"},
                           {"TAAS_CHIEF_HOSTS", job.Pod("chief") + domain}}));
      const json told = json::parse(env.at("TF_CONFIG"));
      EXPECT_EQ(told["task"], json({{"type", role}, {"index", replicas - 1}}));
      EXPECT_EQ(told["cluster"]["worker"][1], job.Pod("worker", 1) + domain);
      for (const char* absent : {"TAAS_PS_HOSTS", "TAAS_WORKER_HOSTS", "TAAS_TRAINER"}) {
        EXPECT_THAT(env, Not(Contains(Key(absent)))) << role;
      }
      // Programs of a TFJob have always seen what their node shows them.
      EXPECT_EQ(env.count("NVIDIA_VISIBLE_DEVICES"), job.tf ? 0u : 1u) << role;
    }
  }
}

TEST_F(LifeTest, TheClassicListsAreThereWhereTheyAreNamed) {
  const json container = {{"command", {"train", "--ps_hosts=$(TAAS_PS_HOSTS)"}},
                          {"args", {"--worker_hosts=$(TAAS_WORKER_HOSTS)"}}};
  for (const PlayedJob& job : Start(
           "lists", {.roles = {{"ps", 1}, {"worker", 2}}, .container = container})) {
    ASSERT_TRUE(AwaitPod(job.Pod("worker"))) << Told(job);
    const std::string domain =
        job.tf ? ".default.svc:2222" : "." + job.name + ".default.svc:2222";
    const auto env = Environment(job.Pod("worker"));
    EXPECT_THAT(env, Contains(Pair("TAAS_PS_HOSTS", job.Pod("ps") + domain)));
    EXPECT_THAT(env, Contains(Pair("TAAS_WORKER_HOSTS", job.Pod("worker", 0) + domain + "," +
                                                            job.Pod("worker", 1) + domain)));
    EXPECT_THAT(env, Not(Contains(Key("TAAS_CHIEF_HOSTS"))));
  }
  // And where TF_CONFIG does not have them.
  const PlayedJob one = StartOne(/*tf=*/true, "lists-one", {.roles = {{"worker", 1}}});
  ASSERT_TRUE(AwaitPod(one.Pod("worker"))) << Told(one);
  const auto env = Environment(one.Pod("worker"));
  EXPECT_THAT(env, Contains(Pair("TAAS_WORKER_HOSTS", "lists-one-worker-0.default.svc:2222")));
  EXPECT_THAT(env, Not(Contains(Key("TF_CONFIG"))));
}

TEST_F(LifeTest, ATemplatesFieldsWinAndWhatMakesThePodAReplicaIsOurs) {
  const json pod = json::parse(R"({
      "restartPolicy": "Always", "terminationGracePeriodSeconds": 7,
      "nodeSelector": {"disk": "fast"}, "securityContext": {"runAsUser": 1000},
      "tolerations": [{"operator": "Exists"}],
      "volumes": [{"name": "data", "emptyDir": {}}],
      "containers": [{"name": "proxy", "image": "own/proxy:1"}]})");
  const json container = json::parse(R"json({
      "env": [{"name": "LR", "value": "0.1"}, {"name": "TF_CONFIG", "value": "mine"},
              {"name": "WHO", "value": "$(TAAS_ROLE)"}],
      "envFrom": [{"configMapRef": {"name": "settings", "optional": true}}],
      "terminationMessagePolicy": "File",
      "volumeMounts": [{"name": "data", "mountPath": "/data"}],
      "resources": {"limits": {"cpu": "2"}}})json");
  const json metadata = json::parse(R"({"labels": {"team": "a", "taas.dev/job-name": "another"},
      "annotations": {"sidecar.istio.io/inject": "false"}})");
  for (const PlayedJob& job :
       Start("template", {.roles = {{"worker", 2}}, .pod = pod, .container = container,
                          .metadata = metadata})) {
    SCOPED_TRACE(job.kind());
    ASSERT_TRUE(AwaitPod(job.Pod("worker"))) << Told(job);
    json made = Pod(job.Pod("worker"));
    EXPECT_EQ(made["metadata"]["labels"]["team"], "a");
    EXPECT_EQ(made["metadata"]["labels"]["taas.dev/job-name"], job.name);
    EXPECT_EQ(made["metadata"]["annotations"]["sidecar.istio.io/inject"], "false");
    json& spec = made["spec"];
    EXPECT_EQ(spec["restartPolicy"], "Never");
    EXPECT_EQ(spec["terminationGracePeriodSeconds"], 7);
    EXPECT_EQ(spec["nodeSelector"], json({{"disk", "fast"}}));
    EXPECT_EQ(spec["securityContext"], json({{"runAsUser", 1000}}));
    // It says all there is to say of nodes that do not answer.
    EXPECT_EQ(spec["tolerations"], json::parse(R"([{"operator": "Exists"}])"));
    EXPECT_EQ(spec["volumes"][0], json::parse(R"({"name": "data", "emptyDir": {}})"));
    json& first = spec["containers"][0];
    EXPECT_EQ(first["name"], job.tf ? "tensorflow" : "trainer");
    EXPECT_EQ(first["terminationMessagePolicy"], "File");
    EXPECT_EQ(first["volumeMounts"][0]["mountPath"], "/data");
    EXPECT_EQ(first["resources"]["limits"]["cpu"], "2");
    EXPECT_EQ(first["envFrom"][0]["configMapRef"]["name"], "settings");
    const auto env = Environment(job.Pod("worker"));
    EXPECT_THAT(env, IsSupersetOf(std::map<std::string, std::string>{
                         {"LR", "0.1"}, {"WHO", "$(TAAS_ROLE)"}}));
    EXPECT_THAT(env.at("TF_CONFIG"), HasSubstr("\"cluster\""));
    EXPECT_FALSE(spec["containers"][1].contains("env")) << spec["containers"][1];
  }
}

TEST_F(LifeTest, ATemplateThatSaysNothingGetsTheUsualTolerationsAndItsLogsEndAsLastWords) {
  for (const PlayedJob& job : Start("plain", {.roles = {{"worker", 1}}})) {
    ASSERT_TRUE(AwaitPod(job.Pod("worker"))) << Told(job);
    json spec = Pod(job.Pod("worker"))["spec"];
    std::map<std::string, int> seconds;
    for (const json& toleration : spec["tolerations"]) {
      seconds[toleration["key"]] = toleration["tolerationSeconds"];
    }
    EXPECT_EQ(seconds, (std::map<std::string, int>{{"node.kubernetes.io/not-ready", 60},
                                                   {"node.kubernetes.io/unreachable", 60}}));
    EXPECT_EQ(spec["containers"][0]["terminationMessagePolicy"], "FallbackToLogsOnError");
  }
}

// A failed pod that its node started again would have no log to read.
TEST_F(LifeTest, APodOfTheLastTryIsNotStartedAgainByItsNode) {
  const auto policy_of_pod = [&](const PlayedJob& job) {
    EXPECT_TRUE(AwaitPod(job.Pod("worker"))) << Told(job);
    return Pod(job.Pod("worker"))["spec"]["restartPolicy"].get<std::string>();
  };
  // A TFJob fails when its restarts are as many, a TrainingJob when it would need one more.
  for (const PlayedJob& job : Start("last", {.roles = {{"worker", 1}},
                                             .policy = "OnFailure",
                                             .policies = {{"backoffLimit", 0}}})) {
    EXPECT_EQ(policy_of_pod(job), "Never") << job.name;
  }
  const Both jobs = Start("one", {.roles = {{"worker", 1}},
                                  .policy = "OnFailure",
                                  .policies = {{"backoffLimit", 1}}});
  EXPECT_EQ(policy_of_pod(jobs[0]), "OnFailure");
  EXPECT_EQ(policy_of_pod(jobs[1]), "Never");
}

TEST_F(LifeTest, ATemplateThatIsChangedCountsForTheNextPod) {
  const Both jobs = StartAndRun("changed", {.roles = {{"worker", 2}}});
  std::map<std::string, std::string> stays;
  for (const PlayedJob& job : jobs) {
    const json container = {{"name", job.tf ? "tensorflow" : "trainer"},
                            {"image", "own/program:2"}};
    const json pod_template = {{"spec", {{"containers", {container}}}}};
    const json after = Patch(
        job.path(), {{"spec", job.WithRole("worker", {{"template", pod_template}})}});
    ASSERT_EQ(after.value("kind", ""), job.kind()) << after.dump(1);
    stays[job.name] = UidOf(job.Pod("worker"));
    Call("DELETE", std::string(kPodsPath) + "/" + job.Pod("worker", 1));
  }
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(Await([&] {
      const json pod = Pod(job.Pod("worker", 1));
      return pod.contains("spec") && pod["spec"]["containers"][0]["image"] == "own/program:2";
    })) << Told(job);
    // Nobody is made again for its sake.
    EXPECT_EQ(UidOf(job.Pod("worker")), stays[job.name]);
    EXPECT_EQ(Pod(job.Pod("worker"))["spec"]["containers"][0]["image"], "own/program:1");
  }
}

// Programs that trap SIGTERM often do that.
TEST_F(LifeTest, AProgramThatExitsWithZeroWhenItIsToldToStopHasNotCompleted) {
  const Both jobs = Start("stopped", {.roles = {{"worker", 2}}});
  std::map<std::string, std::string> uids;
  for (const PlayedJob& job : jobs) {
    // A pod without a node would be gone at once.
    ASSERT_TRUE(AwaitPod(job.Pod("worker"))) << Told(job);
    Bind(job.Pod("worker"), "node-a");
    EXPECT_TRUE(RunPods(job)) << Told(job);
    EXPECT_TRUE(AwaitRunning(job)) << Told(job);
    const std::string path = std::string(kPodsPath) + "/" + job.Pod("worker");
    uids[job.name] = UidOf(job.Pod("worker"));
    const json told = Call("DELETE", path);
    ASSERT_TRUE(told.contains("/metadata/deletionTimestamp"_json_pointer)) << told.dump(1);
    End(job.Pod("worker"), 0);
    Call("DELETE", path + "?gracePeriodSeconds=0");
  }
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(AwaitSuccessor(job.Pod("worker"), uids[job.name])) << Told(job);
    EXPECT_TRUE(RunPods(job));
    EXPECT_TRUE(Await([&] {
      return StatusOf(job).value("restarts", json()) == json({{"preempted", 1}});
    })) << Told(job);
    EXPECT_TRUE(AwaitRunning(job)) << Told(job);
    EXPECT_THAT(CountsOf(job, "worker").value("succeeded", 0), 0);
    EXPECT_THAT(Environment(job.Pod("worker")), Contains(Pair("TAAS_POD_NUMBER", "2")));
  }
}

TEST_F(LifeTest, TheActiveDeadlineCountsFromTheLastTimeThatTheJobWasResumed) {
  const Both jobs = StartAndRun("resumed", {.roles = {{"worker", 1}}});
  std::map<std::string, absl::Time> first;
  for (const PlayedJob& job : jobs) {
    first[job.name] = TimeOf(StatusOf(job), "startTime");
    SetPolicies(job, {{"suspend", true}});
  }
  for (const PlayedJob& job : jobs) {
    ASSERT_TRUE(AwaitState(job, "Suspended")) << Told(job);
    ASSERT_TRUE(Await([&] { return NamesOf(kPodsPath, job.name).empty(); }));
    SetPolicies(job, {{"activeDeadlineSeconds", kDeadlineSeconds}});
  }
  // By then it would have been over, had it counted from the start.
  const absl::Duration deadline = absl::Seconds(kDeadlineSeconds);
  for (const PlayedJob& job : jobs) {
    ASSERT_TRUE(Await([&] { return absl::Now() > first[job.name] + deadline; }));
    EXPECT_EQ(StatusOf(job)["state"], "Suspended") << "no deadline passes meanwhile";
    SetPolicies(job, {{"suspend", false}});
    EXPECT_TRUE(RunPods(job)) << Told(job);
  }
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(AwaitState(job, "Failed")) << Told(job);
    const json status = StatusOf(job);
    const absl::Time began = TimeOf(status, "startTime");
    EXPECT_GE(began, first[job.name] + deadline);
    EXPECT_GE(TimeOf(status, "completionTime"), began + deadline) << Told(job);
    EXPECT_EQ(status["attempt"], 2);
  }
}

TEST_F(LifeTest, AJobThatHasEndedStaysAsItIsButForHowLongItLives) {
  const Both jobs = StartAndRun("over", {.roles = {{"worker", 2}}});
  for (const PlayedJob& job : jobs) End(job.Pod("worker"), 0);
  for (const PlayedJob& job : jobs) {
    SCOPED_TRACE(job.kind());
    ASSERT_TRUE(AwaitState(job, "Succeeded")) << Told(job);
    for (const json& change : {job.WithPolicies({{"suspend", true}}),
                               job.WithRole("worker", {{"replicas", 3}})}) {
      const json answer = Patch(job.path(), {{"spec", change}});
      EXPECT_EQ(answer.value("code", 0), 422) << answer.dump(1);
      EXPECT_THAT(answer.value("message", ""), HasSubstr(kEndedJob));
    }
    json kept = SetPolicies(job, {{"ttlSecondsAfterFinished", 3600}});
    EXPECT_EQ(kept["status"]["state"], "Succeeded") << kept.dump(1);
    EXPECT_EQ(SetPolicies(job, {{"ttlSecondsAfterFinished", 0}}).value("kind", ""), job.kind());
  }
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(Await([&] { return Stored(job).value("kind", "") == "Status"; })) << Told(job);
  }
}

TEST_F(LifeTest, ManyJobsAtOnceAreEachToldOfAsOneIs) {
  constexpr int kJobs = 20;  // Of each kind.
  const JobText text{.roles = {{"ps", 1}, {"worker", 2}}};
  std::vector<PlayedJob> jobs;
  for (int i = 0; i < kJobs; ++i) {
    for (const PlayedJob& job : Start("many-" + std::to_string(i), text)) jobs.push_back(job);
  }
  ASSERT_TRUE(Await([&] {
    RunWhoWaits();
    return Others("-many-", "Running").empty();
  }));
  for (const PlayedJob& job : jobs) {
    EXPECT_TRUE(AwaitRunning(job)) << Told(job);
    End(job.Pod("worker"), 0);
  }
  Await([&] { return Others("-many-", "Succeeded").empty(); });
  EXPECT_THAT(Others("-many-", "Succeeded"), IsEmpty());
  for (const PlayedJob& job : jobs) {
    SCOPED_TRACE(job.name);
    const json status = StatusOf(job);
    EXPECT_FALSE(status.contains("restarts")) << status;
    EXPECT_TRUE(ConditionOf(job, "Failed").empty()) << status;
    EXPECT_EQ(ConditionOf(job, "Running")["status"], "False") << status;
    EXPECT_EQ(CountsOf(job, "worker").value("succeeded", 0), 1) << status;
    if (job.tf) {
      EXPECT_EQ(status["conditions"].back()["type"], "Succeeded") << status;
    }
  }
}

}  // namespace
}  // namespace taas
