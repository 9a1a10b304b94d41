// What users of TFJobs and the tools around them saw of the old operator, asked of ours on a real
// kube-apiserver and on that of the local cluster. The test plays the kubelet.

#include <map>

#include "e2e/operator_fixture.h"
#include "gmock/gmock.h"

namespace taas {
namespace {

using nlohmann::json;
using testing::UnorderedElementsAreArray;

// As users write it: every role with this restart policy.
json TfJob(const std::string& name, const std::map<std::string, int>& roles,
           const std::string& policy, const json& run_policy = json::object()) {
  const json pod = json::parse(R"({"metadata":{"annotations":{"sidecar.istio.io/inject":"false"}},
      "spec":{"containers":[{"name":"tensorflow","image":"kubeflow/tf-dist-mnist-test"}]}})");
  json specs = json::object();
  for (const auto& [role, replicas] : roles) {
    specs[role] = {{"replicas", replicas}, {"restartPolicy", policy}, {"template", pod}};
  }
  return {{"apiVersion", "kubeflow.org/v1"},
          {"kind", "TFJob"},
          {"metadata", {{"name", name}}},
          {"spec", {{"runPolicy", run_policy}, {"tfReplicaSpecs", specs}}}};
}

class TfJobTest : public OperatorFixture, public testing::WithParamInterface<ServerKind> {
 protected:
  void SetUp() override { Begin(GetParam()); }

  void Create(const json& job) {
    const json created = Call("POST", kTfJobsPath, job.dump());
    ASSERT_EQ(created.value("kind", ""), "TFJob") << created.dump(1);
  }
  json Status(const std::string& job) {
    return Call("GET", std::string(kTfJobsPath) + "/" + job).value("status", json::object());
  }
  // What the SDK, Katib and arena look at.
  std::string LastCondition(const std::string& job) {
    const json conditions = Status(job).value("conditions", json::array());
    return conditions.empty() ? "" : conditions.back().value("type", "");
  }
  bool AwaitLast(const std::string& job, const std::string& type) {
    return Await([&] { return LastCondition(job) == type; });
  }
  std::string UidOf(const std::string& pod) {
    return Pod(pod).value("/metadata/uid"_json_pointer, "");
  }
  // Makes the job and runs all its pods.
  void CreateAndRun(const json& job, const std::vector<std::string>& pods) {
    ASSERT_NO_FATAL_FAILURE(Create(job));
    for (const std::string& pod : pods) {
      ASSERT_TRUE(AwaitPod(pod)) << pod;
      Run(pod);
    }
    const std::string name = job["metadata"]["name"];
    ASSERT_TRUE(AwaitLast(name, "Running")) << Status(name).dump(1);
  }
  std::string TfConfigOf(const std::string& pod) {
    const json container = Pod(pod).at("spec").at("containers").at(0);
    for (const json& variable : container.value("env", json::array())) {
      if (variable["name"] == "TF_CONFIG") return variable["value"];
    }
    return "";
  }
};

TEST_P(TfJobTest, TheDistributedMnistExampleLivesUnderItsOldNames) {
  ASSERT_NO_FATAL_FAILURE(
      Create(TfJob("dist-mnist", {{"Chief", 1}, {"PS", 1}, {"Worker", 2}}, "Never")));
  const std::vector<std::string> names = {"dist-mnist-chief-0", "dist-mnist-ps-0",
                                          "dist-mnist-worker-0", "dist-mnist-worker-1"};
  for (const std::string& pod : names) ASSERT_TRUE(AwaitPod(pod)) << pod;
  EXPECT_TRUE(AwaitLast("dist-mnist", "Created"));
  EXPECT_TRUE(Await([&] { return NamesOf(kServicesPath, "dist-mnist").size() == names.size(); }));
  EXPECT_THAT(NamesOf(kServicesPath, "dist-mnist"), UnorderedElementsAreArray(names));
  const json service = Call("GET", std::string(kServicesPath) + "/dist-mnist-worker-1");
  EXPECT_EQ(service["spec"]["clusterIP"], "None");
  EXPECT_EQ(service["spec"]["ports"][0]["name"], "tfjob-port");
  EXPECT_EQ(service["spec"]["ports"][0]["port"], 2222);

  const json pod = Pod("dist-mnist-worker-1");
  EXPECT_EQ(pod["metadata"]["labels"]["training.kubeflow.org/replica-type"], "worker");
  EXPECT_EQ(pod["metadata"]["labels"]["training.kubeflow.org/job-name"], "dist-mnist");
  EXPECT_EQ(pod["metadata"]["annotations"]["sidecar.istio.io/inject"], "false");
  EXPECT_EQ(pod["metadata"]["ownerReferences"][0]["kind"], "TFJob");
  EXPECT_EQ(TfConfigOf("dist-mnist-worker-1"),
            R"({"cluster":{"chief":["dist-mnist-chief-0.default.svc:2222"],)"
            R"("ps":["dist-mnist-ps-0.default.svc:2222"],)"
            R"("worker":["dist-mnist-worker-0.default.svc:2222",)"
            R"("dist-mnist-worker-1.default.svc:2222"]},)"
            R"("task":{"type":"worker","index":1},"environment":"cloud"})");

  for (const std::string& name : names) Run(name);
  ASSERT_TRUE(AwaitLast("dist-mnist", "Running")) << Status("dist-mnist").dump(1);
  // A job runs as soon as its chief does.
  EXPECT_TRUE(Await([&] {
    return Status("dist-mnist")["replicaStatuses"]["Worker"].value("active", 0) == 2;
  })) << Status("dist-mnist").dump(1);
  End("dist-mnist-chief-0", 0);
  ASSERT_TRUE(AwaitLast("dist-mnist", "Succeeded")) << Status("dist-mnist").dump(1);
  EXPECT_EQ(Status("dist-mnist")["conditions"].back()["message"],
            "TFJob default/dist-mnist successfully completed.");
}

// What becomes of ps-0 of a job of one ps and two workers when its container ends.
struct RestartCase {
  const char* name;
  const char* policy;
  int exit_code;
  const char* pod_policy;  // What the kubelet is told.
  enum Outcome { kInPlace, kNewPod, kStays } outcome;
  const char* last_condition;
};

constexpr RestartCase kRestartCases[] = {
    {"always-0", "Always", 0, "Always", RestartCase::kInPlace, "Running"},
    {"always-1", "Always", 1, "Always", RestartCase::kInPlace, "Running"},
    {"onfailure-1", "OnFailure", 1, "OnFailure", RestartCase::kInPlace, "Running"},
    {"onfailure-0", "OnFailure", 0, "OnFailure", RestartCase::kStays, "Running"},
    {"never-1", "Never", 1, "Never", RestartCase::kStays, "Failed"},
    {"never-0", "Never", 0, "Never", RestartCase::kStays, "Running"},
    {"exitcode-1", "ExitCode", 1, "Never", RestartCase::kStays, "Failed"},
    {"exitcode-130", "ExitCode", 130, "Never", RestartCase::kNewPod, "Running"},
};

TEST_P(TfJobTest, TheRestartPoliciesDoWhatTheirNamesSay) {
  for (const RestartCase& test : kRestartCases) {
    SCOPED_TRACE(test.name);
    const std::string job = test.name;
    const std::string ps = job + "-ps-0";
    ASSERT_NO_FATAL_FAILURE(
        CreateAndRun(TfJob(job, {{"PS", 1}, {"Worker", 2}}, test.policy),
                     {ps, job + "-worker-0", job + "-worker-1"}));
    EXPECT_EQ(Pod(ps)["spec"]["restartPolicy"], test.pod_policy);
    const std::string uid = UidOf(ps);
    if (test.outcome == RestartCase::kInPlace) {
      Run(ps, /*restarts=*/1);  // As the kubelet does by itself.
    } else {
      End(ps, test.exit_code);
    }
    if (test.outcome == RestartCase::kNewPod) {
      ASSERT_TRUE(AwaitSuccessor(ps, uid)) << Status(job).dump(1);
      EXPECT_TRUE(AwaitLast(job, "Restarting"));
      Run(ps);
    }
    EXPECT_TRUE(AwaitLast(job, test.last_condition)) << Status(job).dump(1);
    if (test.outcome != RestartCase::kNewPod) {
      EXPECT_EQ(UidOf(ps), uid);
    }
    Call("DELETE", std::string(kTfJobsPath) + "/" + job);
  }
}

// Which pods are left when the chief and the workers have succeeded and the ps still run.
struct CleanCase {
  const char* policy;
  bool ended_stay;
  bool running_stay;
};

TEST_P(TfJobTest, TheCleanPodPoliciesKeepWhatTheySay) {
  for (const CleanCase& test : {CleanCase{"All", false, false}, CleanCase{"Running", true, false},
                                CleanCase{"None", true, true}}) {
    SCOPED_TRACE(test.policy);
    std::string job = test.policy;
    job[0] = static_cast<char>(job[0] + ('a' - 'A'));
    const std::vector<std::string> ended = {job + "-chief-0", job + "-worker-0"};
    const std::string ps = job + "-ps-0";
    ASSERT_NO_FATAL_FAILURE(CreateAndRun(TfJob(job, {{"Chief", 1}, {"PS", 1}, {"Worker", 1}},
                                               "Never", {{"cleanPodPolicy", test.policy}}),
                                         {ended[0], ended[1], ps}));
    End(ended[1], 0);
    End(ended[0], 0);
    ASSERT_TRUE(AwaitLast(job, "Succeeded")) << Status(job).dump(1);
    std::vector<std::string> left;
    if (test.ended_stay) left = ended;
    if (test.running_stay) left.push_back(ps);
    // Nobody confirms a deletion here, so a pod that ends counts as gone.
    const auto present = [&] {
      std::vector<std::string> names;
      for (const std::string& pod : NamesOf(kPodsPath, job)) {
        if (!Pod(pod).contains("/metadata/deletionTimestamp"_json_pointer)) names.push_back(pod);
      }
      return names;
    };
    EXPECT_TRUE(Await([&] { return present().size() == left.size(); }));
    EXPECT_THAT(present(), UnorderedElementsAreArray(left));
  }
}

TEST_P(TfJobTest, TheEndOfTheChiefOrElseOfWorkerZeroIsTheEndOfTheJob) {
  // The key in mixed case, as in manifests of the time.
  ASSERT_NO_FATAL_FAILURE(CreateAndRun(
      TfJob("chief", {{"Chief", 1}, {"Ps", 1}, {"Worker", 1}}, "Never"),
      {"chief-chief-0", "chief-ps-0", "chief-worker-0"}));
  End("chief-chief-0", 0);
  EXPECT_TRUE(AwaitLast("chief", "Succeeded")) << Status("chief").dump(1);
  ASSERT_NO_FATAL_FAILURE(CreateAndRun(TfJob("worker", {{"Ps", 1}, {"Worker", 2}}, "Never"),
                                       {"worker-ps-0", "worker-worker-0", "worker-worker-1"}));
  End("worker-worker-0", 0);
  EXPECT_TRUE(AwaitLast("worker", "Succeeded")) << Status("worker").dump(1);
}

TEST_P(TfJobTest, ASuspendedJobReleasesItsPodsAndItsDeadlineNeedsNoOtherEvent) {
  ASSERT_NO_FATAL_FAILURE(CreateAndRun(
      TfJob("pause", {{"Worker", 1}}, "Never", {{"activeDeadlineSeconds", 3}}),
      {"pause-worker-0"}));
  EXPECT_TRUE(AwaitLast("pause", "Failed")) << Status("pause").dump(1);
  ASSERT_NO_FATAL_FAILURE(
      Create(TfJob("held", {{"Worker", 1}}, "Never", {{"suspend", true}})));
  ASSERT_TRUE(AwaitLast("held", "Suspended")) << Status("held").dump(1);
  EXPECT_TRUE(NamesOf(kPodsPath, "held").empty());
  Patch(std::string(kTfJobsPath) + "/held", {{"spec", {{"runPolicy", {{"suspend", false}}}}}});
  EXPECT_TRUE(AwaitPod("held-worker-0"));
}

TEST_P(TfJobTest, AManifestWithoutReplicasIsRefusedByName) {
  const json answer = Call("POST", kTfJobsPath,
                           json{{"apiVersion", "kubeflow.org/v1"},
                                {"kind", "TFJob"},
                                {"metadata", {{"name", "invalid"}}},
                                {"spec", {{"notTheActualField", json::object()}}}}
                               .dump());
  EXPECT_EQ(answer.value("kind", ""), "Status");
  EXPECT_NE(answer.value("message", "").find("tfReplicaSpecs"), std::string::npos)
      << answer.dump(1);
}

INSTANTIATE_TEST_SUITE_P(Servers, TfJobTest, testing::Values(kKubeApiServer, kLocalCluster),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
