// The API server as real kubectl sees it.

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "localkube/api/api_server.h"
#include "localkube/api/fake_log_source.h"
#include "localkube/api/https_server.h"
#include "localkube/api/kubectl_process.h"
#include "localkube/api/pod_logs.h"
#include "operator/base/clock.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using nlohmann::json;

class KubectlTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(Kubectl::Find(&program_));
    dir_ = testing::TempDir() + "/kubectl.XXXXXX";
    ASSERT_NE(mkdtemp(dir_.data()), nullptr);
    auto server = ApiServer::Start({.dir = dir_ + "/api"}, clock_, random_, &logs_);
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
    ASSERT_THAT(server_->WriteKubeconfig(dir_ + "/kubeconfig"), IsOk());
  }

  std::unique_ptr<Kubectl> Start(const std::vector<std::string>& arguments) {
    return std::make_unique<Kubectl>(program_, dir_, dir_ + "/kubeconfig", arguments);
  }
  std::string Run(const std::vector<std::string>& arguments, int want_code = 0) {
    int code = 0;
    const std::string out = Start(arguments)->Finish(&code);
    EXPECT_EQ(code, want_code) << out;
    return out;
  }
  json RunJson(const std::vector<std::string>& arguments) {
    const json value = json::parse(Run(arguments), nullptr, false);
    EXPECT_FALSE(value.is_discarded());
    return value;
  }
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ + "/" + name) << text;
    return dir_ + "/" + name;
  }
  // What the operator and the node would do.
  void Patch(const std::string& path, const json& patch) {
    const ApiResponse reply =
        server_->api().Handle({.method = "PATCH", .target = path, .body = patch.dump()});
    ASSERT_EQ(reply.code, 200) << reply.body;
  }

  RealClock clock_;
  SystemRandom random_;
  FakeLogSource logs_;
  std::string program_, dir_;
  std::unique_ptr<ApiServer> server_;
};

constexpr char kPod[] =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {app: x}}\n"
    "spec:\n  containers:\n  - {name: trainer, image: 'i:1', command: [sleep, '9']}\n";

constexpr char kJobPath[] = "/apis/taas.dev/v1/namespaces/default/trainingjobs/mnist";

TEST_F(KubectlTest, AppliesTheMainJobTwiceAndShowsIt) {
  EXPECT_THAT(Run({"apply", "-f", "examples/mnist.yaml"}), HasSubstr("mnist created"));
  // kubectl may say "configured" for the defaults inside the list of volumes; nothing is written.
  const json first = RunJson({"get", "tj", "mnist", "-o", "json"});
  Run({"apply", "-f", "examples/mnist.yaml"});
  EXPECT_EQ(RunJson({"get", "tj", "mnist", "-o", "json"})["metadata"]["resourceVersion"],
            first["metadata"]["resourceVersion"]);
  Patch(std::string(kJobPath) + "/status",
        {{"status", {{"state", "Running"}, {"ready", "5/5"}}}});
  const std::string table = Run({"get", "tj"});
  EXPECT_THAT(table, HasSubstr("NAME"));
  EXPECT_THAT(table, HasSubstr("STATE"));
  EXPECT_THAT(table, HasSubstr("5/5"));
  EXPECT_EQ(Run({"get", "tj", "-o", "name"}), "trainingjob.taas.dev/mnist\n");
  EXPECT_THAT(Run({"get", "trainingjob", "mnist", "-o", "yaml"}),
              HasSubstr("kind: TrainingJob\n"));
  EXPECT_EQ(RunJson({"get", "tj", "mnist", "-o", "json"})["status"]["state"], "Running");
  EXPECT_THAT(Run({"describe", "tj", "mnist"}), HasSubstr("API Version:  taas.dev/v1"));
  EXPECT_THAT(Run({"get", "all"}), HasSubstr("trainingjob.taas.dev/mnist"));
}

TEST_F(KubectlTest, RefusesAnUnknownFieldAndABadValueWithTheirPaths) {
  std::ifstream file("examples/mnist.yaml");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  ASSERT_FALSE(text.empty());
  const std::string unknown = Write("unknown.yaml", text + "  colour: red\n");
  EXPECT_THAT(Run({"apply", "-f", unknown}, 1), HasSubstr("unknown field \"spec.colour\""));
  const size_t at = text.find("    ps:");
  const size_t digits = text.find("replicas:", at) + 9;
  text.replace(digits, 2, " -2");
  const std::string negative = Write("negative.yaml", text);
  EXPECT_THAT(Run({"apply", "-f", negative}, 1), HasSubstr("spec.roles.ps.replicas"));
}

// Symptom: `kubectl apply --server-side` was told of media types, which its user cannot choose.
TEST_F(KubectlTest, ServerSideApplyIsRefusedWithASentenceAndChangesNothing) {
  const auto apply = [&](const char* file) {
    return Run({"apply", "--server-side", "-f", file}, 1);
  };
  EXPECT_THAT(apply("examples/mnist.yaml"), HasSubstr("no server-side apply"));
  EXPECT_THAT(Run({"get", "tj", "mnist"}, 1), HasSubstr("NotFound"));
  const std::string pod = Write("pod.yaml", kPod);
  EXPECT_THAT(apply(pod.c_str()), HasSubstr("use `kubectl apply` without --server-side"));
}

TEST_F(KubectlTest, WaitsForAConditionAndDeletes) {
  Run({"apply", "-f", "examples/mnist.yaml"});
  auto wait = Start({"wait", "--for=condition=Succeeded", "tj/mnist", "--timeout=60s"});
  Patch(std::string(kJobPath) + "/status",
        {{"status",
          {{"conditions",
            {{{"type", "Succeeded"},
              {"status", "True"},
              {"reason", "Done"},
              {"message", ""},
              {"lastTransitionTime", "2026-01-01T00:00:00Z"},
              {"observedGeneration", 1}}}}}}});
  int code = 0;
  EXPECT_THAT(wait->Finish(&code), HasSubstr("mnist condition met"));
  EXPECT_EQ(code, 0);
  EXPECT_THAT(Run({"delete", "-f", "examples/mnist.yaml"}), HasSubstr("deleted"));
  EXPECT_THAT(Run({"get", "tj", "mnist"}, 1), HasSubstr("NotFound"));
}

TEST_F(KubectlTest, FollowsChangesInATable) {
  auto watch = Start({"get", "pods", "-w"});
  Run({"apply", "-f", Write("pod.yaml", kPod)});
  EXPECT_THAT(watch->ReadUntil("Pending"), HasSubstr("0/1"));
  Patch("/api/v1/namespaces/default/pods/p/status", {{"status", {{"phase", "Running"}}}});
  EXPECT_THAT(watch->ReadUntil("Running"), HasSubstr("Running"));
}

TEST_F(KubectlTest, AppliesAndPatchesAPodAndDescribesIt) {
  const std::string file = Write("pod.yaml", kPod);
  EXPECT_THAT(Run({"create", "-f", file}), HasSubstr("pod/p created"));
  Run({"label", "pod", "p", "color=red"});
  EXPECT_EQ(RunJson({"get", "pods", "-l", "color=red", "-o", "json"})["items"].size(), 1u);
  Run({"patch", "pod", "p", "-p", R"({"spec":{"containers":[{"name":"trainer","image":"i:2"}]}})"});
  Run({"annotate", "pod", "p", "note=1"});
  const std::string described = Run({"describe", "pod", "p"});
  EXPECT_THAT(described, HasSubstr("i:2"));
  EXPECT_THAT(described, HasSubstr("color=red"));
  EXPECT_THAT(Run({"get", "pods", "-o", "wide"}), HasSubstr("NOMINATED NODE"));
  EXPECT_THAT(Run({"delete", "pod", "p"}), HasSubstr("deleted"));
}

TEST_F(KubectlTest, FollowsALogToItsEnd) {
  Run({"create", "-f", Write("pod.yaml", kPod)});
  logs_.Append("p", "2026-01-01T00:00:00Z stdout F step 10\n");
  auto log = Start({"logs", "-f", "p"});
  EXPECT_THAT(log->ReadUntil("step 10\n"), HasSubstr("step 10\n"));
  logs_.Append("p", "2026-01-01T00:00:01Z stdout F step 20\n");
  EXPECT_THAT(log->ReadUntil("step 20\n"), HasSubstr("step 20\n"));
  logs_.End("p");
  int code = -1;
  EXPECT_EQ(log->Finish(&code), "step 10\nstep 20\n");
  EXPECT_EQ(code, 0);
  EXPECT_EQ(Run({"logs", "p", "--tail=1"}), "step 20\n");
}

// Symptom: it ended at once, with "unexpected EOF".
TEST_F(KubectlTest, FollowsALogThatIsLargerThanWhatWaitsForAClient) {
  Run({"create", "-f", Write("pod.yaml", kPod)});
  std::string records;
  size_t size = 0;
  while (size <= StreamBudget::Limits().stream_max + kLogPieceBytes) {
    const std::string line = std::string(10'000, 'x') + "\n";
    records += "2026-01-01T00:00:00Z stdout F " + line;
    size += line.size();
  }
  logs_.Append("p", records);
  logs_.End("p");
  EXPECT_EQ(Run({"logs", "-f", "p"}).size(), size);
}

TEST_F(KubectlTest, MakesAndDeletesANamespace) {
  EXPECT_THAT(Run({"create", "namespace", "team"}), HasSubstr("namespace/team created"));
  Run({"create", "-n", "team", "-f", Write("pod.yaml", kPod)});
  EXPECT_THAT(Run({"get", "pods", "-A"}), HasSubstr("team"));
  EXPECT_THAT(Run({"delete", "namespace", "team"}), HasSubstr("deleted"));
  EXPECT_THAT(Run({"get", "ns"}), Not(HasSubstr("team")));
}

TEST_F(KubectlTest, ListsResourcesExplainsAndReadsTheScale) {
  const std::string resources = Run({"api-resources"});
  EXPECT_THAT(resources, HasSubstr("trainingjobs"));
  EXPECT_THAT(resources, HasSubstr("leases"));
  EXPECT_THAT(Run({"explain", "tj.spec.roles"}), HasSubstr("worker"));
  Run({"apply", "-f", "examples/mnist.yaml"});
  const json scale = RunJson({"get", "tj", "mnist", "--subresource=scale", "-o", "json"});
  EXPECT_EQ(scale["spec"]["replicas"], 2);
  EXPECT_THAT(Run({"version"}), HasSubstr("Server Version: v1.34"));
  EXPECT_THAT(Run({"get", "crd"}), HasSubstr("trainingjobs.taas.dev"));
  EXPECT_THAT(Run({"get", "events"}), HasSubstr("No resources found"));
}

TEST_F(KubectlTest, ScalesAJob) {
  Run({"apply", "-f", "examples/mnist.yaml"});
  EXPECT_THAT(Run({"scale", "tj", "mnist", "--replicas=4"}), HasSubstr("scaled"));
  EXPECT_EQ(RunJson({"get", "tj", "mnist", "-o", "json"})["spec"]["roles"]["worker"]["replicas"],
            4);
  EXPECT_THAT(Run({"scale", "tj", "mnist", "--current-replicas=2", "--replicas=1"}, 1),
              HasSubstr("Expected replicas to be 2, was 4"));
}

TEST_F(KubectlTest, PatchesAJobByMergeAndByJson) {
  Run({"apply", "-f", "examples/mnist.yaml"});
  Run({"patch", "tj", "mnist", "--type=merge", "-p", R"({"spec":{"suspend":true}})"});
  Run({"patch", "tj", "mnist", "--type=json", "-p",
       R"([{"op":"replace","path":"/spec/roles/worker/replicas","value":3}])"});
  const json job = RunJson({"get", "tj", "mnist", "-o", "json"});
  EXPECT_EQ(job["spec"]["suspend"], true);
  EXPECT_EQ(job["spec"]["roles"]["worker"]["replicas"], 3);
}

TEST_F(KubectlTest, MakesConfigMapsAndSecretsAndShowsThem) {
  const std::string file = Write("settings.ini", "level = debug\n");
  EXPECT_THAT(Run({"create", "configmap", "m", "--from-literal=a=b", "--from-file=" + file}),
              HasSubstr("configmap/m created"));
  EXPECT_EQ(RunJson({"get", "cm", "m", "-o", "json"})["data"]["settings.ini"], "level = debug\n");
  Run({"create", "secret", "generic", "s", "--from-literal=key=word"});
  EXPECT_EQ(RunJson({"get", "secret", "s", "-o", "json"})["data"]["key"], "d29yZA==");
  EXPECT_THAT(Run({"describe", "secret", "s"}), HasSubstr("key:  4 bytes"));
  EXPECT_THAT(Run({"get", "cm"}), HasSubstr("m      2"));
}

TEST_F(KubectlTest, DrainsANodeByEvictionAndTaintsIt) {
  server_->api().Handle({.method = "POST",
                         .target = "/api/v1/nodes",
                         .body = R"({"metadata":{"name":"n"}})"});
  Run({"create", "-f", Write("pod.yaml", kPod)});
  const std::string path = "/api/v1/namespaces/default/pods/p";
  server_->api().Handle({.method = "POST",
                         .target = path + "/binding",
                         .body = R"({"target":{"name":"n"}})"});
  auto drain = Start({"drain", "n", "--force", "--timeout=60s"});
  drain->ReadUntil("evicting pod default/p");
  json pod;
  while (!pod.contains("metadata") || !pod["metadata"].contains("deletionTimestamp")) {
    pod = RunJson({"get", "pod", "p", "-o", "json"});
  }
  EXPECT_EQ(pod["status"]["conditions"].back()["type"], "DisruptionTarget");
  // As the node does when the processes have ended.
  server_->api().Handle(
      {.method = "DELETE", .target = path, .body = R"({"gracePeriodSeconds":0})"});
  int code = -1;
  EXPECT_THAT(drain->Finish(&code), HasSubstr("node/n drained"));
  EXPECT_EQ(code, 0);
  EXPECT_THAT(Run({"get", "nodes"}), HasSubstr("SchedulingDisabled"));
  EXPECT_THAT(Run({"uncordon", "n"}), HasSubstr("node/n uncordoned"));
  EXPECT_THAT(Run({"taint", "node", "n", "gpu=broken:NoSchedule"}), HasSubstr("tainted"));
  EXPECT_THAT(Run({"describe", "node", "n"}), HasSubstr("gpu=broken:NoSchedule"));
}

TEST_F(KubectlTest, ShowsTheEventsOfAPodWhereItIsDescribed) {
  Run({"create", "-f", Write("pod.yaml", kPod)});
  const json pod = RunJson({"get", "pod", "p", "-o", "json"});
  const json event = {{"metadata", {{"name", "p.1"}}},
                      {"involvedObject",
                       {{"kind", "Pod"}, {"namespace", "default"}, {"name", "p"},
                        {"uid", pod["metadata"]["uid"]}}},
                      {"type", "Warning"},
                      {"reason", "FailedScheduling"},
                      {"message", "no room"},
                      {"lastTimestamp", "2026-01-01T00:00:00Z"}};
  server_->api().Handle({.method = "POST",
                         .target = "/api/v1/namespaces/default/events",
                         .body = event.dump()});
  EXPECT_THAT(Run({"describe", "pod", "p"}), HasSubstr("no room"));
  EXPECT_THAT(Run({"get", "events", "--field-selector=reason=FailedScheduling"}),
              HasSubstr("pod/p"));
  EXPECT_THAT(Run({"events"}), HasSubstr("FailedScheduling"));
}

TEST_F(KubectlTest, AsksWhoItIsAndWhatItMayDo) {
  EXPECT_THAT(Run({"auth", "whoami"}),
              HasSubstr("Username    taas-local\nGroups      [system:masters "
                        "system:authenticated]\n"));
  EXPECT_EQ(Run({"auth", "can-i", "create", "trainingjobs"}), "yes\n");
  EXPECT_EQ(Run({"auth", "can-i", "delete", "tfjobs/x", "-n", "elsewhere"}), "yes\n");
  EXPECT_EQ(Run({"auth", "can-i", "get", "/metrics"}), "yes\n");
  const std::string rules = Run({"auth", "can-i", "--list"});
  EXPECT_THAT(rules, HasSubstr("*.*         []                  []               [*]\n"));
  EXPECT_THAT(rules, HasSubstr("            [*]                 []               [*]\n"));
  const std::string other = Write("other.yaml", R"(
apiVersion: authorization.k8s.io/v1
kind: SubjectAccessReview
spec:
  user: somebody
  resourceAttributes: {verb: create, group: taas.dev, resource: trainingjobs, namespace: default}
)");
  EXPECT_THAT(Run({"create", "-f", other, "-o", "yaml"}), HasSubstr("allowed: false"));
  const std::string wrong = Write("wrong.yaml",
                                  "apiVersion: authorization.k8s.io/v1\n"
                                  "kind: SubjectAccessReview\nspec: {user: somebody}\n");
  EXPECT_THAT(Run({"create", "-f", wrong}, 1), HasSubstr("exactly one of nonResourceAttributes"));
  EXPECT_THAT(Run({"api-resources", "--verbs=create"}), HasSubstr("tokenreviews"));
  EXPECT_THAT(Run({"api-resources", "--verbs=list"}), Not(HasSubstr("tokenreviews")));
}

TEST_F(KubectlTest, KnowsTfJobs) {
  const std::string file = Write("tfjob.yaml", R"(
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: tf}
spec:
  tfReplicaSpecs:
    Worker:
      replicas: 1
      template: {spec: {containers: [{name: tensorflow, image: 'own:1', command: ['true']}]}}
)");
  EXPECT_THAT(Run({"apply", "-f", file}), HasSubstr("tfjob.kubeflow.org/tf created"));
  EXPECT_THAT(Run({"get", "tfjobs"}), HasSubstr("STATE"));
  EXPECT_THAT(Run({"explain", "tfjob.spec.tfReplicaSpecs"}), HasSubstr("FIELD"));
  EXPECT_THAT(Run({"api-resources", "--api-group=kubeflow.org"}), HasSubstr("tfjobs"));
}

}  // namespace
}  // namespace taas::localkube
