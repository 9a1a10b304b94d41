#include "operator/plan/use_pod.h"

#include <set>
#include <string>
#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "operator/plan/plan.h"
#include "operator/plan/plan_fixture.h"
#include "operator/plan/pod_json.h"

namespace taas {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Job TrainedJob(JobShape shape) {
  Job job = StartedJob(shape).job;
  job.spec.trainer.config = R"({"model":{"name":"softmax"}})";
  job.spec.trainer.checkpoint_dir = "/out";
  job.spec.volumes = {{.name = "out",
                       .mount_path = "/out",
                       .read_only = false,
                       .roles = {},
                       .source = R"({"persistentVolumeClaim":{"claimName":"mnist-out"}})"},
                      {.name = "curves",
                       .mount_path = "/curves",
                       .read_only = false,
                       .roles = {Role::kEvaluator},
                       .source = R"({"emptyDir":{}})"}};
  return job;
}

UsePod Eval() {
  return {.name = "mnist-eval-x7k2p",
          .use = "eval",
          .arguments = {"eval", "--checkpoint", "/out"},
          .image = "taas/trainer:other",
          .input_map = "",
          .deadline_seconds = 90};
}

json Made(const Job& job, const UsePod& use) {
  const absl::StatusOr<json> pod = UsePodJson(job, use);
  EXPECT_THAT(pod.status(), IsOk());
  return pod.ok() ? *pod : json();
}

json Variable(const json& pod, const std::string& name) {
  for (const json& item : pod["spec"]["containers"][0]["env"]) {
    if (item["name"] == name) return item.value("value", json("from elsewhere"));
  }
  return json();
}

TEST(UsePodTest, ThePodRunsTheCommandAndNoOperatorTakesItForAReplica) {
  const Job job = TrainedJob({.workers = 1});
  const json pod = Made(job, Eval());
  EXPECT_EQ(pod["kind"], "Pod");
  EXPECT_EQ(pod["metadata"], json::parse(R"({
      "name":"mnist-eval-x7k2p","namespace":"default",
      "labels":{"app.kubernetes.io/managed-by":"taas","taas.dev/use":"eval",
                "taas.dev/use-of":"mnist"},
      "ownerReferences":[{"apiVersion":"taas.dev/v1","kind":"TrainingJob","name":"mnist",
                          "uid":"uid-1"}]})"));
  const json& spec = pod["spec"];
  EXPECT_EQ(spec["restartPolicy"], "Never");
  EXPECT_EQ(spec["activeDeadlineSeconds"], 90);
  EXPECT_EQ(spec["terminationGracePeriodSeconds"], 1);
  EXPECT_FALSE(spec.contains("hostname"));
  EXPECT_FALSE(spec.contains("subdomain"));
  ASSERT_EQ(spec["containers"].size(), 1u);
  const json& container = spec["containers"][0];
  EXPECT_EQ(container["args"], json::parse(R"(["eval","--checkpoint","/out"])"));
  EXPECT_FALSE(container.contains("command"));
  EXPECT_FALSE(container.contains("ports"));
  EXPECT_EQ(container["image"], "taas/trainer:other");
  EXPECT_EQ(Variable(pod, "TAAS_TRAINER"), R"({"model":{"name":"softmax"}})");
  EXPECT_TRUE(Variable(pod, "TF_CONFIG").is_null());
  EXPECT_EQ(spec["volumes"].size(), 1u);  // What only evaluators mount is not there.
  EXPECT_EQ(UseContainer(pod), "trainer");
}

// What the operator's pod of the same role has of place, rights and volumes.
TEST(UsePodTest, ItIsLikeThePodThatTheOperatorMakes) {
  Snapshot now = StartedJob({.chiefs = 1, .ps = 1, .workers = 1});
  now.job.spec.volumes = TrainedJob({}).spec.volumes;
  now.job.spec.scheduling.priority_class = "low";
  RoleSpec& chief = now.job.spec.roles[Role::kChief];
  chief.resources = R"({"requests":{"cpu":"2"},"limits":{"memory":"1Gi"}})";
  chief.env = R"([{"name":"HTTPS_PROXY","value":"p"}])";
  chief.env_from = R"([{"secretRef":{"name":"keys"}}])";
  chief.pod_template = R"({"spec":{"nodeSelector":{"disk":"fast"},"imagePullSecrets":[{"name":"s"}],
      "serviceAccountName":"sa","initContainers":[{"name":"fetch","image":"i"}]}})";
  json replica;
  for (const Step& step : PlanJob(now).steps) {
    const auto* create = std::get_if<CreatePod>(&step);
    if (create != nullptr && create->pod.role == Role::kChief) {
      replica = json::parse(*PodJson(create->pod));
    }
  }
  ASSERT_TRUE(replica.is_object());
  const json pod = Made(now.job, Eval());
  for (const char* same :
       {"nodeSelector", "imagePullSecrets", "serviceAccountName", "securityContext", "tolerations",
        "initContainers", "priorityClassName", "volumes", "automountServiceAccountToken"}) {
    ASSERT_TRUE(pod["spec"].contains(same)) << same;
    EXPECT_EQ(pod["spec"][same], replica["spec"][same]) << same;
  }
  for (const char* same : {"name", "resources", "securityContext", "volumeMounts", "envFrom"}) {
    EXPECT_EQ(pod["spec"]["containers"][0][same], replica["spec"]["containers"][0][same]) << same;
  }
  EXPECT_EQ(Variable(pod, "HTTPS_PROXY"), "p");
  EXPECT_EQ(Variable(pod, "TAAS_ROLE"), "chief");
}

TEST(UsePodTest, TheJobsOwnImageWins) {
  Job job = TrainedJob({.workers = 1});
  job.spec.trainer.image = "me/trainer:2";
  EXPECT_EQ(Made(job, Eval())["spec"]["containers"][0]["image"], "me/trainer:2");
  RoleSpec& role = job.spec.roles[Role::kWorker];
  role.pod_template = R"({"spec":{"containers":[{"name":"trainer","image":"me/trainer:3"}]}})";
  role.container = 0;
  EXPECT_EQ(Made(job, Eval())["spec"]["containers"][0]["image"], "me/trainer:3");
}

TEST(UsePodTest, ItHasNoTokenNoProbesAndNothingThatRunsOn) {
  Job job = TrainedJob({.workers = 1});
  RoleSpec& role = job.spec.roles[Role::kWorker];
  role.env = R"([{"name":"TAAS_JOB_TOKEN","value":"secret"},{"name":"TAAS_TRAINER","value":"x"}])";
  role.pod_template = R"({"metadata":{"labels":{"team":"a","taas.dev/role":"worker",
        "taas.dev/job-name":"mnist","training.kubeflow.org/job-name":"mnist"},
        "annotations":{"note":"n","taas.dev/job-token":"secret"}},
      "spec":{"containers":[{"name":"logs","image":"l"},
        {"name":"trainer","livenessProbe":{"httpGet":{"port":2223}},
         "lifecycle":{"preStop":{"exec":{"command":["x"]}}},
         "ports":[{"containerPort":1,"hostPort":1}],"command":["sleep"]}]}})";
  role.container = 1;
  const json pod = Made(job, Eval());
  EXPECT_EQ(pod.dump().find("secret"), std::string::npos);
  EXPECT_EQ(pod["metadata"]["labels"], json::parse(R"({"app.kubernetes.io/managed-by":"taas",
      "taas.dev/use":"eval","taas.dev/use-of":"mnist","team":"a"})"));
  EXPECT_EQ(pod["metadata"]["annotations"], json::parse(R"({"note":"n"})"));
  ASSERT_EQ(pod["spec"]["containers"].size(), 1u);
  const json& container = pod["spec"]["containers"][0];
  EXPECT_EQ(container["name"], "trainer");
  for (const char* gone : {"livenessProbe", "lifecycle", "ports", "command"}) {
    EXPECT_FALSE(container.contains(gone)) << gone;
  }
  EXPECT_EQ(Variable(pod, "TAAS_TRAINER"), job.spec.trainer.config);
}

TEST(UsePodTest, GpusAreNotAskedForAndTheirNodesStayOpen) {
  Job job = TrainedJob({.workers = 1});
  RoleSpec& role = job.spec.roles[Role::kWorker];
  role.gpus = 4;
  role.gpu_type = "H100";
  role.resources = R"({"limits":{"amd.com/gpu":"1","memory":"1Gi"}})";
  const json pod = Made(job, Eval());
  const json& spec = pod["spec"];
  EXPECT_EQ(spec["containers"][0]["resources"], json::parse(R"({"limits":{"memory":"1Gi"}})"));
  EXPECT_FALSE(spec.contains("affinity"));
  EXPECT_EQ(Variable(pod, "NVIDIA_VISIBLE_DEVICES"), "void");
  std::set<std::string> tolerated;
  for (const json& toleration : spec["tolerations"]) tolerated.insert(toleration["key"]);
  EXPECT_EQ(tolerated.count("nvidia.com/gpu"), 1u);
  EXPECT_EQ(tolerated.count("amd.com/gpu"), 1u);
}

TEST(UsePodTest, InputIsAFolderOfFiles) {
  UsePod use = Eval();
  use.input_map = "mnist-eval-x7k2p";
  const json pod = Made(TrainedJob({.workers = 1}), use);
  EXPECT_EQ(pod["spec"]["volumes"].back(),
            json::parse(R"({"name":"taas-input","configMap":{"name":"mnist-eval-x7k2p"}})"));
  EXPECT_EQ(pod["spec"]["containers"][0]["volumeMounts"].back(),
            json::parse(R"({"name":"taas-input","mountPath":"/taas-input","readOnly":true})"));
}

TEST(UsePodTest, ATemplateThatCannotBeFollowedIsSaid) {
  Job job = TrainedJob({.workers = 1});
  job.spec.roles[Role::kWorker].env = R"({"A":"b"})";
  EXPECT_THAT(UsePodJson(job, Eval()).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("mnist-eval-x7k2p")));
}

TEST(UsePodTest, AChiefWithoutReplicasIsNone) {
  EXPECT_EQ(UseRole(TrainedJob({.chiefs = 1, .workers = 1})), Role::kChief);
  Job job = TrainedJob({.workers = 1});
  job.spec.roles[Role::kChief].replicas = 0;
  EXPECT_EQ(UseRole(job), Role::kWorker);
}

}  // namespace
}  // namespace taas
