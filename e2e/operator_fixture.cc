#include "e2e/operator_fixture.h"

#include <signal.h>

#include "e2e/control_plane.h"
#include "localkube/api/api_server.h"
#include "operator/api/tfjob_crd.h"
#include "operator/api/trainingjob_crd.h"
#include "operator/base/random.h"
#include "operator/base/status.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using nlohmann::json;

class RealServer : public TestedServer {
 public:
  static absl::StatusOr<std::unique_ptr<TestedServer>> Start(const std::string& dir) {
    auto server = std::make_unique<RealServer>();
    ASSIGN_OR_RETURN(server->plane_, ControlPlane::Start(dir));
    for (const std::string& crd : {TrainingJobCrdJson(), TfJobCrdJson()}) {
      ASSIGN_OR_RETURN(const HttpAnswer created,
                       server->client().Do(
                           "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd));
      if (created.code != 201) return absl::UnavailableError("create a CRD: " + created.body);
    }
    return server;
  }
  HttpClient& client() override { return plane_->client(); }
  std::string kubeconfig() const override { return plane_->kubeconfig(); }
  std::string other_kubeconfig() const override { return plane_->other_kubeconfig(); }
  std::string audit_log() const override { return plane_->audit_log(); }

 private:
  std::unique_ptr<ControlPlane> plane_;
};

class LocalServer : public TestedServer {
 public:
  static absl::StatusOr<std::unique_ptr<TestedServer>> Start(const std::string& dir) {
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

}  // namespace

const ServerKind kKubeApiServer{"KubeApiServer", RealServer::Start};
const ServerKind kLocalCluster{"LocalCluster", LocalServer::Start};

void OperatorFixture::Begin(const ServerKind& kind, const std::vector<std::string>& flags) {
  flags_ = flags;
  ASSERT_NO_FATAL_FAILURE(BeginServer(kind));
  StartOperator();
}

void OperatorFixture::RestartOperator(const std::vector<std::string>& flags) {
  ASSERT_THAT(operator_->Signal(SIGTERM), IsOk());
  ASSERT_THAT(operator_->Wait(kPatience), IsOk());
  flags_ = flags;
  StartOperator();
}

void OperatorFixture::BeginServer(const ServerKind& kind) {
  static int started = 0;
  const std::string dir =
      testing::TempDir() + "/" + kind.name + "-" + std::to_string(++started);
  auto server = kind.start(dir);
  ASSERT_THAT(server, IsOk());
  server_ = *std::move(server);
  ASSERT_TRUE(Await([&] {
    return Call("GET", kTrainingJobsPath).value("kind", "") == "TrainingJobList" &&
           Call("GET", kTfJobsPath).value("kind", "") == "TFJobList";
  }));
}

void OperatorFixture::StartOperator(const std::string& kubeconfig) {
  std::vector<std::string> argv = {"operator/cmd/taas-operator", "--kubeconfig", kubeconfig,
                                   "--metrics-addr", "127.0.0.1:0", "--health-addr",
                                   "127.0.0.1:0"};
  argv.insert(argv.end(), flags_.begin(), flags_.end());
  auto started = Process::Start({.argv = argv, .log = testing::TempDir() + "/operator.log"});
  ASSERT_THAT(started, IsOk());
  operator_ = *std::move(started);
}

json OperatorFixture::Call(const std::string& method, const std::string& path,
                           const std::string& body, const std::string& type) {
  const auto answer = server_->client().Do(method, path, body, type);
  EXPECT_THAT(answer, IsOk());
  if (!answer.ok()) return json::object();
  // Before a kind exists its path answers with plain text.
  const json object = json::parse(answer->body, nullptr, /*allow_exceptions=*/false);
  return object.is_object() ? object : json::object();
}

json OperatorFixture::Patch(const std::string& path, const json& change) {
  return Call("PATCH", path, change.dump(), kMergePatch);
}

bool OperatorFixture::Await(const std::function<bool()>& holds) {
  const Clock::Time deadline = clock_.Now() + kPatience;
  while (clock_.Now() < deadline) {
    if (holds()) return true;
    clock_.SleepUntil(clock_.Now() + std::chrono::milliseconds(20));
  }
  return false;
}

std::vector<std::string> OperatorFixture::NamesOf(const std::string& collection,
                                                  const std::string& job) {
  const json list = Call("GET", collection + "?labelSelector=taas.dev%2Fjob-name%3D" + job);
  std::vector<std::string> names;
  for (const json& item : list.value("items", json::array())) {
    names.push_back(item["metadata"]["name"]);
  }
  return names;
}

bool OperatorFixture::AwaitPod(const std::string& pod) {
  return Await([&] { return Pod(pod).value("kind", "") == "Pod"; });
}

bool OperatorFixture::AwaitSuccessor(const std::string& pod, const std::string& uid) {
  return Await([&] {
    const std::string now = Pod(pod).value("/metadata/uid"_json_pointer, "");
    return !now.empty() && now != uid;
  });
}

void OperatorFixture::SetStatus(const std::string& pod, const std::string& phase,
                                const json& state, int restarts) {
  const json spec = Pod(pod).at("spec").at("containers").at(0);
  const json container = {{"name", spec["name"]}, {"image", spec["image"]}, {"imageID", ""},
                          {"ready", phase == "Running"}, {"restartCount", restarts},
                          {"state", state}};
  const json after = Patch(std::string(kPodsPath) + "/" + pod + "/status",
                           {{"status", {{"phase", phase}, {"containerStatuses", {container}}}}});
  ASSERT_EQ(after["kind"], "Pod") << after.dump(1);
}

void OperatorFixture::Run(const std::string& pod, int restarts) {
  SetStatus(pod, "Running", {{"running", {{"startedAt", FormatRfc3339(clock_.WallNow())}}}},
            restarts);
}

void OperatorFixture::End(const std::string& pod, int code, const std::string& said) {
  const std::string now = FormatRfc3339(clock_.WallNow());
  SetStatus(pod, code == 0 ? "Succeeded" : "Failed",
            {{"terminated",
              {{"exitCode", code}, {"startedAt", now}, {"finishedAt", now}, {"message", said}}}});
}

}  // namespace taas
