// A real Kubernetes API server with its etcd, for one test.
//
// The programs come from the directory in TAAS_KUBERNETES_BIN, which `make test` sets. There is no
// controller manager: nothing makes service accounts, so their admission is off, and nothing
// collects garbage.
//
// Ownership: the object owns both processes and ends them; files stay in `dir`, which is the
// test's. Threads: one. Errors: FailedPrecondition without the programs; Unavailable with the end
// of the log of the program that did not come up.
//
//   ASSIGN_OR_RETURN(auto plane, ControlPlane::Start(testing::TempDir() + "/plane"));
//   ASSIGN_OR_RETURN(const HttpAnswer answer, plane->client().Do("GET", "/version"));

#ifndef E2E_CONTROL_PLANE_H_
#define E2E_CONTROL_PLANE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "e2e/http_client.h"
#include "e2e/process.h"

namespace taas {

class ControlPlane {
 public:
  // `dir` is made; up when /readyz says so and the namespace `default` is there.
  static absl::StatusOr<std::unique_ptr<ControlPlane>> Start(const std::string& dir);

  // As a member of system:masters.
  HttpClient& client() { return *client_; }
  // "https://127.0.0.1:PORT"
  std::string server() const;
  const std::string& token() const { return token_; }
  const std::string& ca_file() const { return ca_file_; }
  const std::string& kubeconfig() const { return kubeconfig_; }
  // Of the user "other", who may as much: the audit log tells who did what.
  std::string other_kubeconfig() const { return kubeconfig_ + "-other"; }
  // A line of JSON for each write that was answered.
  std::string audit_log() const { return dir_ + "/audit.log"; }

  // Real kubectl on this server.
  absl::StatusOr<ProgramOutput> Kubectl(const std::vector<std::string>& arguments);

 private:
  ControlPlane() = default;

  absl::Status StartOnce();
  absl::Status StartEtcd(uint16_t port, uint16_t peer_port);
  absl::Status StartApiServer(uint16_t etcd_port);
  absl::Status AwaitReady();
  absl::Status WriteKubeconfig(const std::string& path, const std::string& token);

  std::string bin_;
  std::string dir_;
  std::string token_;
  std::string ca_file_;
  std::string kubeconfig_;
  uint16_t port_ = 0;
  std::unique_ptr<Process> etcd_;
  std::unique_ptr<Process> api_server_;
  std::unique_ptr<HttpClient> client_;
};

}  // namespace taas

#endif  // E2E_CONTROL_PLANE_H_
