// The program taas-operator against an API server: a real kube-apiserver, or that of the local
// cluster. The test plays the kubelet.
//
// Ownership: owns server and operator, and ends them. Threads: one. Errors: as test failures.
//
//   class MyTest : public OperatorFixture { … };
//   ASSERT_NO_FATAL_FAILURE(Begin(RealServer::Start));
//   Run("mnist-chief-0");

#ifndef E2E_OPERATOR_FIXTURE_H_
#define E2E_OPERATOR_FIXTURE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "e2e/http_client.h"
#include "e2e/process.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "third_party/json.h"

namespace taas {

inline constexpr char kMergePatch[] = "application/merge-patch+json";
inline constexpr char kPodsPath[] = "/api/v1/namespaces/default/pods";
inline constexpr char kServicesPath[] = "/api/v1/namespaces/default/services";
inline constexpr char kTrainingJobsPath[] = "/apis/taas.dev/v1/namespaces/default/trainingjobs";
inline constexpr char kTfJobsPath[] = "/apis/kubeflow.org/v1/namespaces/default/tfjobs";
// Far above what any step takes; a slow machine with everything else at work stays below.
inline constexpr std::chrono::seconds kPatience{60};

// An API server that has TrainingJobs and TFJobs.
class TestedServer {
 public:
  virtual ~TestedServer() = default;
  virtual HttpClient& client() = 0;
  virtual std::string kubeconfig() const = 0;
  // Of a user "other", and who wrote what; only a real API server has them.
  virtual std::string other_kubeconfig() const { return ""; }
  virtual std::string audit_log() const { return ""; }
};

struct ServerKind {
  const char* name;
  absl::StatusOr<std::unique_ptr<TestedServer>> (*start)(const std::string& dir);
};
extern const ServerKind kKubeApiServer;
extern const ServerKind kLocalCluster;

class OperatorFixture : public testing::Test {
 protected:
  using Json = nlohmann::json;

  // Both up: server and operator. Fatal failure: not.
  void Begin(const ServerKind& kind, const std::vector<std::string>& flags = {});
  // The server alone, where something must be there before the operator.
  void BeginServer(const ServerKind& kind);
  // The operator ends, as a roll-out ends it, and starts again with these flags.
  void RestartOperator(const std::vector<std::string>& flags);
  void StartOperator() { StartOperator(server_->kubeconfig()); }
  void StartOperator(const std::string& kubeconfig);

  // An object in any case: nothing else comes from a server that serves the path.
  Json Call(const std::string& method, const std::string& path, const std::string& body = "",
            const std::string& type = "application/json");
  Json Patch(const std::string& path, const Json& change);
  bool Await(const std::function<bool()>& holds);

  // Names of all objects below the path of a collection that belong to the job.
  std::vector<std::string> NamesOf(const std::string& collection, const std::string& job);
  Json Pod(const std::string& pod) { return Call("GET", std::string(kPodsPath) + "/" + pod); }
  bool AwaitPod(const std::string& pod);
  // Another pod than the one with this uid.
  bool AwaitSuccessor(const std::string& pod, const std::string& uid);

  // What a kubelet says of the job's container.
  void SetStatus(const std::string& pod, const std::string& phase, const Json& state,
                 int restarts = 0);
  void Run(const std::string& pod, int restarts = 0);
  void End(const std::string& pod, int code, const std::string& said = "");

  RealClock clock_;
  PosixFileSystem files_;
  std::vector<std::string> flags_;
  std::unique_ptr<TestedServer> server_;
  std::unique_ptr<Process> operator_;
};

}  // namespace taas

#endif  // E2E_OPERATOR_FIXTURE_H_
