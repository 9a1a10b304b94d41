// The program taas-operator against a real etcd and kube-apiserver, and the same program against
// the API server of the local cluster. The test plays the kubelet.

#include <signal.h>

#include <functional>

#include "e2e/control_plane.h"
#include "e2e/http_client.h"
#include "e2e/process.h"
#include "gtest/gtest.h"
#include "localkube/api/api_server.h"
#include "nlohmann/json.hpp"
#include "operator/api/manifest.h"
#include "operator/api/trainingjob_crd.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/random.h"
#include "operator/base/status.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kMergePatch[] = "application/merge-patch+json";
constexpr char kPods[] = "/api/v1/namespaces/default/pods";
constexpr char kJobs[] = "/apis/taas.dev/v1/namespaces/default/trainingjobs";
// Far above what any step takes; a slow machine with everything else at work stays below.
constexpr seconds kPatience{60};

// An API server that has TrainingJobs.
class Server {
 public:
  virtual ~Server() = default;
  virtual HttpClient& client() = 0;
  virtual std::string kubeconfig() const = 0;
};

class RealServer : public Server {
 public:
  static absl::StatusOr<std::unique_ptr<Server>> Start(const std::string& dir) {
    auto server = std::make_unique<RealServer>();
    ASSIGN_OR_RETURN(server->plane_, ControlPlane::Start(dir));
    ASSIGN_OR_RETURN(const HttpAnswer created,
                     server->client().Do(
                         "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                         TrainingJobCrdJson()));
    if (created.code != 201) return absl::UnavailableError("create the CRD: " + created.body);
    return server;
  }
  HttpClient& client() override { return plane_->client(); }
  std::string kubeconfig() const override { return plane_->kubeconfig(); }

 private:
  std::unique_ptr<ControlPlane> plane_;
};

class LocalServer : public Server {
 public:
  static absl::StatusOr<std::unique_ptr<Server>> Start(const std::string& dir) {
    auto server = std::make_unique<LocalServer>();
    PosixFileSystem files;
    RETURN_IF_ERROR(files.MakeDirs(dir));
    ASSIGN_OR_RETURN(server->api_, localkube::ApiServer::Start({.dir = dir + "/api"},
                                                               server->clock_, server->random_,
                                                               /*logs=*/nullptr));
    server->kubeconfig_ = dir + "/kubeconfig";
    RETURN_IF_ERROR(server->api_->WriteKubeconfig(server->kubeconfig_));
    const std::string ca = dir + "/ca.pem";
    RETURN_IF_ERROR(files.WriteAtomically(ca, server->api_->ca_pem()));
    server->client_ = std::make_unique<HttpClient>(HttpClient::Options{
        .port = server->api_->port(), .ca_file = ca, .token = server->api_->token()});
    return server;
  }
  HttpClient& client() override { return *client_; }
  std::string kubeconfig() const override { return kubeconfig_; }

 private:
  RealClock clock_;
  SystemRandom random_;
  std::unique_ptr<localkube::ApiServer> api_;
  std::string kubeconfig_;
  std::unique_ptr<HttpClient> client_;
};

struct ServerKind {
  const char* name;
  absl::StatusOr<std::unique_ptr<Server>> (*start)(const std::string& dir);
};

class OperatorTest : public testing::TestWithParam<ServerKind> {
 protected:
  void SetUp() override {
    auto server = GetParam().start(testing::TempDir() + "/" + GetParam().name);
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
    ASSERT_TRUE(Await([&] { return Call("GET", kJobs).value("kind", "") == "TrainingJobList"; }));
    // Nobody makes service accounts here, and pods do not need one.
    StartOperator();
  }

  void StartOperator() {
    auto started = Process::Start({.argv = {"operator/cmd/taas-operator", "--kubeconfig",
                                            server_->kubeconfig(), "--metrics-addr", "127.0.0.1:0",
                                            "--health-addr", "127.0.0.1:0"},
                                   .log = testing::TempDir() + "/operator.log"});
    ASSERT_THAT(started, IsOk());
    operator_ = *std::move(started);
  }

  json Call(const std::string& method, const std::string& path, const std::string& body = "",
            const std::string& type = "application/json") {
    const auto answer = server_->client().Do(method, path, body, type);
    EXPECT_THAT(answer, IsOk());
    if (!answer.ok()) return json::object();
    // Before a kind exists its path answers with plain text.
    const json object = json::parse(answer->body, nullptr, /*allow_exceptions=*/false);
    return object.is_object() ? object : json::object();
  }

  bool Await(const std::function<bool()>& holds) {
    const Clock::Time deadline = clock_.Now() + kPatience;
    while (clock_.Now() < deadline) {
      if (holds()) return true;
      clock_.SleepUntil(clock_.Now() + milliseconds(20));
    }
    return false;
  }

  // An object also before the operator has written it.
  json Status() {
    return Call("GET", std::string(kJobs) + "/mnist").value("status", json::object());
  }
  bool AwaitState(const std::string& state) {
    return Await([&] { return Status().value("state", "") == state; });
  }
  std::string NumberOf(const std::string& pod) {
    const json found = Call("GET", std::string(kPods) + "/" + pod);
    return found.value("/metadata/labels/taas.dev~1pod-number"_json_pointer, "");
  }

  void SetStatus(const std::string& pod, const std::string& phase, const json& state) {
    const json container = {{"name", "trainer"}, {"image", "i"}, {"imageID", ""}, {"ready", true},
                            {"restartCount", 0}, {"state", state}};
    const json patch = {{"status", {{"phase", phase}, {"containerStatuses", {container}}}}};
    const json after =
        Call("PATCH", std::string(kPods) + "/" + pod + "/status", patch.dump(), kMergePatch);
    ASSERT_EQ(after["kind"], "Pod") << after.dump(1);
  }
  void Run(const std::string& pod) {
    SetStatus(pod, "Running", {{"running", {{"startedAt", FormatRfc3339(clock_.WallNow())}}}});
  }
  void End(const std::string& pod, int code, const std::string& said) {
    const std::string now = FormatRfc3339(clock_.WallNow());
    SetStatus(pod, code == 0 ? "Succeeded" : "Failed",
              {{"terminated",
                {{"exitCode", code}, {"startedAt", now}, {"finishedAt", now}, {"message", said}}}});
  }

  RealClock clock_;
  PosixFileSystem files_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Process> operator_;
};

TEST_P(OperatorTest, TheMainJobLivesThroughAKilledWorkerAndAKilledOperatorToItsEnd) {
  const auto yaml = files_.ReadAll("examples/mnist.yaml");
  ASSERT_THAT(yaml, IsOk());
  const auto documents = ManifestDocuments(*yaml);
  ASSERT_THAT(documents, IsOk());
  ASSERT_EQ(Call("POST", std::string(kJobs) + "?fieldValidation=Strict", documents->at(0))["kind"],
            "TrainingJob");

  const std::vector<std::string> pods = {"mnist-chief-0", "mnist-ps-0", "mnist-ps-1",
                                         "mnist-worker-0", "mnist-worker-1"};
  ASSERT_TRUE(Await([&] { return Call("GET", kPods)["items"].size() == pods.size(); }));
  ASSERT_TRUE(AwaitState("Pending"));
  EXPECT_EQ(Call("GET", "/api/v1/namespaces/default/services/mnist")["spec"]["clusterIP"], "None");
  for (const std::string& pod : pods) Run(pod);
  ASSERT_TRUE(AwaitState("Running")) << Status().dump(1);

  // Both at once: the operator comes back to a worker that has ended meanwhile.
  ASSERT_THAT(operator_->Signal(SIGKILL), IsOk());
  ASSERT_THAT(operator_->Wait(kPatience), IsOk());
  End("mnist-worker-0", 137, "");
  StartOperator();
  ASSERT_TRUE(Await([&] { return NumberOf("mnist-worker-0") == "2"; })) << Status().dump(1);
  ASSERT_TRUE(AwaitState("Restarting"));
  Run("mnist-worker-0");
  ASSERT_TRUE(AwaitState("Running"));
  EXPECT_EQ(Status()["restarts"], json::parse(R"({"killed":1})"));
  for (const std::string& pod : pods) {
    EXPECT_EQ(NumberOf(pod), pod == "mnist-worker-0" ? "2" : "1") << pod;
  }

  End("mnist-chief-0", 0, R"({"message":"done","step":2000,"evaluation":{"accuracy":0.95}})");
  for (const std::string& pod : pods) {
    if (pod != "mnist-chief-0") End(pod, 0, "");
  }
  ASSERT_TRUE(AwaitState("Succeeded")) << Status().dump(1);
  EXPECT_EQ(Status()["progress"]["percent"], 100);
  EXPECT_EQ(Status()["progress"]["evaluation"]["accuracy"], 0.95);
  EXPECT_EQ(Call("GET", kPods)["items"].size(), pods.size());

  ASSERT_THAT(operator_->Signal(SIGTERM), IsOk());
  const auto code = operator_->Wait(kPatience);
  ASSERT_THAT(code, IsOk());
  EXPECT_EQ(*code, 0);
}

INSTANTIATE_TEST_SUITE_P(Servers, OperatorTest,
                         testing::Values(ServerKind{"KubeApiServer", RealServer::Start},
                                         ServerKind{"LocalCluster", LocalServer::Start}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
