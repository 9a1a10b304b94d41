#include "cli/taas_app.h"

#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/command_line.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"
#include "operator/kube/test_server.h"
#include "third_party/json.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string JobJson(const std::string& state) {
  return R"({"apiVersion":"taas.dev/v1","kind":"TrainingJob","metadata":{"namespace":"team",)"
         R"("name":"mnist","uid":"u","resourceVersion":"5"},)"
         R"("spec":{"trainer":{},"roles":{"worker":{"replicas":1}}},"status":{"state":")" +
         state + R"(","ready":"1/1","message":"worker-0 exited with 1"}})";
}
std::string PodJson(const std::string& role, int index) {
  const std::string i = std::to_string(index);
  return R"({"metadata":{"namespace":"team","name":"mnist-)" + role + "-" + i + R"(","uid":")" +
         role + i + R"(","resourceVersion":"4","labels":{"taas.dev/job-name":"mnist",)" +
         R"("taas.dev/role":")" + role + R"(","taas.dev/index":")" + i +
         R"("}},"status":{"phase":"Running"}})";
}
std::string List(const std::string& items) {
  return R"({"metadata":{"resourceVersion":"9"},"items":[)" + items + "]}";
}

class TaasAppTest : public testing::Test {
 protected:
  TaasAppTest() {
    EXPECT_THAT(files_.MakeDirs(dir_), IsOk());
    Write("config",
          "current-context: c\n"
          "contexts: [{name: c, context: {cluster: c, namespace: team}}]\n"
          "clusters: [{name: c, cluster: {server: \"" +
              server_.url() + "\"}}]\n");
  }
  std::string Write(const std::string& name, const std::string& text) {
    EXPECT_THAT(files_.WriteAtomically(dir_ + "/" + name, text), IsOk());
    return dir_ + "/" + name;
  }
  int Run(std::vector<std::string> arguments) {
    out_.str("");
    err_.str("");
    return RunTaas(std::move(arguments), io_, nullptr);
  }
  bool Answer(const TestServer::Request& request, TestServer::Connection& to) {
    const std::string& target = request.target;
    const auto has = [&](const char* part) { return target.find(part) != std::string::npos; };
    if (has("watch=true")) {
      to.StartChunks(200);
      return to.WaitForClose();
    }
    if (request.method == "POST") return to.Reply(201, request.body);
    if (has("/metrics.k8s.io/")) return to.Reply(metrics_code_, metrics_body_);
    if (has("/api/v1/nodes")) return to.Reply(200, List(R"({"metadata":{"name":"n1"}})"));
    if (has("/log")) {
      if (has("worker-0")) return to.Reply(200, "2026-11-21T05:54:17.2Z w\n");
      return to.Reply(200, "2026-11-21T05:54:17.1Z p1\n2026-11-21T05:54:18Z p2\n");
    }
    if (has("/pods?")) return to.Reply(200, List(PodJson("worker", 0) + "," + PodJson("ps", 0)));
    if (has("/trainingjobs/gone")) {
      return to.Reply(404, R"({"reason":"NotFound","message":"no gone","code":404})");
    }
    if (has("/trainingjobs/")) return to.Reply(200, JobJson(state_));
    if (has("/trainingjobs?")) return to.Reply(200, List(JobJson(state_)));
    return to.Reply(404, "{}");
  }

  const std::string dir_ = std::string(std::getenv("TEST_TMPDIR")) + "/cli";
  PosixFileSystem files_;
  std::string state_ = "Running";
  // As a kube-apiserver answers for a group that nobody has registered.
  int metrics_code_ = 404;
  std::string metrics_body_ = "404 page not found\n";
  TestServer server_{[this](const TestServer::Request& request, TestServer::Connection& to) {
    return Answer(request, to);
  }};
  std::ostringstream out_, err_;
  CommandIo io_{.out = out_, .err = err_, .env = [this](const std::string& name) {
                  return name == "KUBECONFIG" ? std::optional<std::string>(dir_ + "/config")
                                              : std::nullopt;
                }};
};

TEST_F(TaasAppTest, ListPrintsATableOfTheContextsNamespace) {
  EXPECT_EQ(Run({"list"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("NAME "), HasSubstr("mnist   Running   1/1")));
  EXPECT_THAT(server_.requests()[0].target, HasSubstr("/namespaces/team/trainingjobs?"));
}

TEST_F(TaasAppTest, ListOfAllNamespacesAndOtherFormats) {
  EXPECT_EQ(Run({"list", "-A"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("NAMESPACE"));
  EXPECT_THAT(server_.requests()[0].target, Not(HasSubstr("namespaces")));
  EXPECT_EQ(Run({"list", "-o", "name"}), 0);
  EXPECT_EQ(out_.str(), "trainingjob.taas.dev/mnist\n");
  EXPECT_EQ(Run({"list", "-o", "json"}), 0);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("\"kind\": \"List\""), HasSubstr("\"name\": \"mnist\"")));
}

TEST_F(TaasAppTest, LogsOfAllReplicasAreMergedInTheOrderOfTime) {
  EXPECT_EQ(Run({"logs", "mnist"}), 0) << err_.str();
  EXPECT_EQ(out_.str(), "[ps-0] p1\n[worker-0] w\n[ps-0] p2\n");
}

TEST_F(TaasAppTest, LogsOfOneRole) {
  EXPECT_EQ(Run({"logs", "mnist", "--role", "worker", "--index", "0"}), 0) << err_.str();
  EXPECT_EQ(out_.str(), "[worker-0] w\n");
}

TEST_F(TaasAppTest, AJobThatIsNotThereIsExitCodeThree) {
  EXPECT_EQ(Run({"logs", "gone"}), 3);
  EXPECT_THAT(err_.str(), HasSubstr("get job team/gone: 404 NotFound"));
  EXPECT_EQ(Run({"wait", "gone"}), 3);
}

TEST_F(TaasAppTest, WaitEndsWhenTheStateIsThere) {
  state_ = "Succeeded";
  EXPECT_EQ(Run({"wait", "mnist"}), 0) << err_.str();
  EXPECT_EQ(Run({"wait", "mnist", "--for", "Ended"}), 0) << err_.str();
}

TEST_F(TaasAppTest, WaitFailsWhenTheJobEndedOtherwiseAndSaysWhy) {
  state_ = "Failed";
  EXPECT_EQ(Run({"wait", "mnist"}), 1);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("ended as Failed"), HasSubstr("worker-0 exited with 1")));
  EXPECT_EQ(Run({"wait", "mnist", "--for", "Failed"}), 0) << err_.str();
}

TEST_F(TaasAppTest, WaitGivesUpAfterItsTimeout) {
  EXPECT_EQ(Run({"wait", "mnist", "--timeout", "1s"}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("not Succeeded after 1 s"));
}

TEST_F(TaasAppTest, WrongUsageIsExitCodeTwo) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_EQ(Run({"dance"}), 2);
  EXPECT_EQ(Run({"list", "-o", "xml"}), 2);
  EXPECT_EQ(Run({"wait", "mnist", "--timeout", "soon"}), 2);
  EXPECT_EQ(Run({"--help"}), 0);
}

TEST_F(TaasAppTest, NoClusterIsSaidWithWhatToDo) {
  EXPECT_EQ(Run({"list", "--kubeconfig", "/nonexistent"}), 3);
  EXPECT_THAT(err_.str(), HasSubstr("/nonexistent"));
}

TEST_F(TaasAppTest, TheExamplesAreValid) {
  EXPECT_EQ(Run({"validate", "-f", "examples"}), 0) << out_.str() << err_.str();
  EXPECT_EQ(out_.str(), "");
}

TEST_F(TaasAppTest, ABadManifestIsALinePerField) {
  const std::string path = Write("bad.yaml",
                                 "apiVersion: taas.dev/v1\nkind: TrainingJob\n"
                                 "metadata: {name: a}\nspec: {rolls: {}, roles: {worker: {}}}\n");
  EXPECT_EQ(Run({"validate", "-f", path}), 1);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr(path + ": "), HasSubstr("spec.rolls")));
  EXPECT_EQ(Run({"validate", "-f", Write("broken.yaml", "a: [")}), 1);
  EXPECT_EQ(Run({"validate", "-f", "/nonexistent.yaml"}), 3);
  EXPECT_THAT(err_.str(), HasSubstr("/nonexistent.yaml"));
}

TEST_F(TaasAppTest, BothKindsAndSeveralDocumentsAreChecked) {
  const std::string path = Write("two.yaml",
                                 "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: tf}\n"
                                 "spec: {notAField: 1}\n---\n"
                                 "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n");
  EXPECT_EQ(Run({"validate", "-f", path}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("notAField"));
  EXPECT_THAT(err_.str(), HasSubstr("kind ConfigMap is not checked"));
  EXPECT_EQ(Run({"validate", "-f", Write("none.yaml", "kind: ConfigMap\n")}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("no TrainingJob or TFJob"));
}

// "1 job is valid".
TEST_F(TaasAppTest, TyposInATemplateAreToldWithTheirPathsAndWhatWasMeant) {
  const std::string path = Write("typos.yaml", R"(apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: typos}
spec:
  tfReplicaSpecs:
    Worker:
      template:
        spec:
          nodeSelecter: {gpu: "true"}
          containers:
            - name: tensorflow
              image: me/tf:1
              comand: [python, train.py]
              imagePullPolicy: Allways
              env: [{name: NO, value: 0.1}]
              resources: {limits: {memory: 1 GB}}
)");
  EXPECT_EQ(Run({"validate", "-f", path}), 1);
  for (const char* words :
       {"template.spec.nodeSelecter\" (did you mean \"nodeSelector\"?)",
        "template.spec.containers[0].comand\" (did you mean \"command\"?)",
        "template.spec.containers[0].imagePullPolicy: Unsupported value: \"Allways\"",
        "template.spec.containers[0].env[0].name: Invalid value: \"boolean\"",
        "template.spec.containers[0].env[0].value: Invalid value: \"number\"",
        "template.spec.containers[0].resources.limits.memory: Invalid value: \"1 GB\""}) {
    EXPECT_THAT(out_.str(), HasSubstr(words));
  }
  EXPECT_EQ(Run({"convert", "-f", path}), 0);
  EXPECT_THAT(err_.str(), HasSubstr("template.spec.nodeSelecter\" (did you mean"));
}

TEST_F(TaasAppTest, ConvertPrintsAnObjectForEachTfJob) {
  EXPECT_EQ(Run({"convert", "-f", "examples/tfjob.yaml"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("kind: TrainingJob"), Not(HasSubstr("tensorflow\n"))));
  EXPECT_EQ(Run({"validate", "-f", Write("converted.yaml", out_.str())}), 0) << out_.str();
  EXPECT_EQ(Run({"convert", "-f", "examples/mnist.yaml"}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("there is no TFJob in it"));
}

TEST_F(TaasAppTest, AManifestMayComeThroughAPipe) {
  const std::string manifest =
      "apiVersion: taas.dev/v1\nkind: TrainingJob\n"
      "metadata: {name: a}\nspec: {rolls: {}, roles: {worker: {}}}\n";
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  ASSERT_EQ(::write(fds[1], manifest.data(), manifest.size()),
            static_cast<ssize_t>(manifest.size()));
  ::close(fds[1]);
  const int saved = ::dup(STDIN_FILENO);
  ::dup2(fds[0], STDIN_FILENO);
  EXPECT_EQ(Run({"validate", "-f", "-"}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("-: unknown field \"spec.rolls\"")) << err_.str();
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  ::close(fds[0]);
}

// taas died of SIGABRT: null is what a template leaves where it had no value.
TEST_F(TaasAppTest, AMemberOfTheMetadataThatIsNullIsAbsent) {
  const auto manifest = [this](const std::string& metadata) {
    return Write("null.yaml", "apiVersion: taas.dev/v1\nkind: TrainingJob\nmetadata: {" + metadata +
                                  "}\nspec: {roles: {worker: {template: {spec: {containers: "
                                  "[{name: trainer, image: i}]}}}}}\n");
  };
  EXPECT_EQ(Run({"validate", "-f", manifest("generateName:")}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("name or generateName is required"));
  EXPECT_EQ(Run({"validate", "-f", manifest("name:, generateName:")}), 1);
  EXPECT_EQ(Run({"submit", "--detach", "-f", manifest("name: a, namespace:, generateName:")}), 0)
      << err_.str();
  EXPECT_THAT(server_.requests()[0].target, HasSubstr("/namespaces/team/trainingjobs?"));
  EXPECT_THAT(err_.str(), HasSubstr("/a created"));
}

TEST_F(TaasAppTest, AnObjectOfAFormThatNobodyForesawIsAnErrorLikeOthers) {
  const auto surprise = [](Command& app, int*) {
    app.AddCommand({.name = "surprise", .about = ""}).OnRun([] {
      nlohmann::json({{"spec", nullptr}}).at("spec").at("roles");
    });
  };
  EXPECT_EQ(RunTaas({"surprise"}, io_, surprise), 1);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("taas: read an object: "), HasSubstr("null")));
}

TEST_F(TaasAppTest, VersionIsPrinted) {
  EXPECT_EQ(Run({"version"}), 0);
  const std::string said = out_.str();
  EXPECT_THAT(said, testing::MatchesRegex("taas [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  out_.str("");
  EXPECT_EQ(Run({"--version"}), 0);
  EXPECT_EQ(out_.str(), said);
}

TEST_F(TaasAppTest, TopGoesWithoutUsageWhereNobodyMeasuresIt) {
  EXPECT_EQ(Run({"top", "node", "--details"}), 0);
  EXPECT_EQ(err_.str(), "") << "a cluster without metrics-server is a usual one";
  EXPECT_THAT(out_.str(), HasSubstr("n1          Unknown     -          0            0           "
                                    "0            0           -           0            0           "
                                    "-           0\n"));
  EXPECT_EQ(Run({"top", "job"}), 0);
  EXPECT_EQ(err_.str(), "");
  EXPECT_THAT(out_.str(), HasSubstr("mnist   TrainingJob   Running   0/0    0             0     "
                                    "       0           0           -           -\n"));
}

TEST_F(TaasAppTest, TopSaysWhyItGoesWithoutUsage) {
  metrics_code_ = 403;
  metrics_body_ =
      R"({"reason":"Forbidden","message":"pods.metrics.k8s.io is forbidden","code":403})";
  EXPECT_EQ(Run({"top", "job"}), 0) << "the table is there all the same";
  EXPECT_THAT(out_.str(), HasSubstr("mnist   TrainingJob"));
  EXPECT_THAT(err_.str(), HasSubstr("pods.metrics.k8s.io is forbidden; CPU(USED) and MEM(USED)"));
}

}  // namespace
}  // namespace taas
