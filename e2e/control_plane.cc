#include "e2e/control_plane.h"

#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/status.h"

namespace taas {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// 4 s on an idle machine; a loaded one takes many times as long.
constexpr Clock::Duration kReadyLimit = seconds(120);
constexpr Clock::Duration kPollInterval = milliseconds(50);
// A port that was free may be taken before the program binds it.
constexpr int kStartAttempts = 3;
constexpr size_t kLogTailBytes = 2000;

constexpr char kOtherToken[] = "test-other";
// Who wrote what and when, not the bodies.
constexpr char kAuditPolicy[] = R"(apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, verbs: [create, update, patch, delete]}
- {level: None}
)";

absl::StatusOr<uint16_t> FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return ErrnoToStatus(errno, "socket", "127.0.0.1");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool bound = ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  const int error = errno;
  ::close(fd);
  if (!bound) return ErrnoToStatus(error, "bind", "127.0.0.1:0");
  return ntohs(address.sin_port);
}

// The key that service account tokens are signed with; the server wants one to exist. RSA, because
// it reads no other key in PKCS #8.
absl::Status WriteSigningKey(const std::string& path) {
  EVP_PKEY* key = EVP_RSA_gen(2048);
  std::FILE* file = std::fopen(path.c_str(), "w");
  const bool written = key != nullptr && file != nullptr &&
                       PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr) == 1;
  if (file != nullptr) std::fclose(file);
  EVP_PKEY_free(key);
  if (!written) return absl::UnavailableError("write " + path + ": OpenSSL or the disk refused");
  return absl::OkStatus();
}

std::string LogTail(const std::string& path) {
  PosixFileSystem files;
  const absl::StatusOr<std::string> text = files.ReadAll(path);
  if (!text.ok()) return "";
  return text->size() <= kLogTailBytes ? *text : text->substr(text->size() - kLogTailBytes);
}

// Go's collector runs a fourth as often, which is a seventh less work of a server, for 100 MB; and
// not at all in kubectl, which is over before it is of use.
const char kSeldomCollected[] = "GOGC=400";
const char kNeverCollected[] = "GOGC=off";

std::string Loopback(uint16_t port) { return "http://127.0.0.1:" + std::to_string(port); }

}  // namespace

absl::StatusOr<std::unique_ptr<ControlPlane>> ControlPlane::Start(const std::string& dir) {
  const char* bin = std::getenv("TAAS_KUBERNETES_BIN");
  if (bin == nullptr || *bin == '\0') {
    return absl::FailedPreconditionError(
        "TAAS_KUBERNETES_BIN names no directory with etcd, kube-apiserver and kubectl; `make test` "
        "builds them and sets it");
  }
  std::unique_ptr<ControlPlane> plane(new ControlPlane());
  plane->bin_ = bin;
  plane->dir_ = dir;
  plane->token_ = "test-admin";
  plane->ca_file_ = dir + "/certificates/apiserver.crt";
  plane->kubeconfig_ = dir + "/kubeconfig";
  absl::Status started;
  for (int attempt = 0; attempt < kStartAttempts; ++attempt) {
    started = plane->StartOnce();
    if (started.ok()) return plane;
  }
  return started;
}

absl::Status ControlPlane::StartOnce() {
  client_.reset();
  api_server_.reset();
  etcd_.reset();
  PosixFileSystem files;
  RETURN_IF_ERROR(files.RemoveAll(dir_));
  RETURN_IF_ERROR(files.MakeDirs(dir_));
  ASSIGN_OR_RETURN(const uint16_t etcd_port, FreePort());
  ASSIGN_OR_RETURN(const uint16_t peer_port, FreePort());
  ASSIGN_OR_RETURN(port_, FreePort());
  RETURN_IF_ERROR(StartEtcd(etcd_port, peer_port));
  RETURN_IF_ERROR(StartApiServer(etcd_port));
  client_ = std::make_unique<HttpClient>(
      HttpClient::Options{.port = port_, .ca_file = ca_file_, .token = token_});
  RETURN_IF_ERROR(AwaitReady());
  RETURN_IF_ERROR(WriteKubeconfig(kubeconfig_, token_));
  return WriteKubeconfig(other_kubeconfig(), kOtherToken);
}

absl::Status ControlPlane::StartEtcd(uint16_t port, uint16_t peer_port) {
  ASSIGN_OR_RETURN(
      etcd_, Process::Start({.argv = {bin_ + "/etcd", "--data-dir=" + dir_ + "/etcd",
                                      "--unsafe-no-fsync",
                                      "--listen-client-urls=" + Loopback(port),
                                      "--advertise-client-urls=" + Loopback(port),
                                      "--listen-peer-urls=" + Loopback(peer_port),
                                      "--initial-advertise-peer-urls=" + Loopback(peer_port),
                                      "--initial-cluster=default=" + Loopback(peer_port)},
                             .log = dir_ + "/etcd.log",
                             .env = {kSeldomCollected}}));
  return absl::OkStatus();
}

absl::Status ControlPlane::StartApiServer(uint16_t etcd_port) {
  const std::string key = dir_ + "/service-account.key";
  RETURN_IF_ERROR(WriteSigningKey(key));
  PosixFileSystem files;
  const std::string tokens = dir_ + "/tokens.csv";
  RETURN_IF_ERROR(files.WriteAtomically(tokens, token_ + ",admin,1,\"system:masters\"\n" +
                                                    kOtherToken + ",other,2,\"system:masters\"\n"));
  const std::string policy = dir_ + "/audit-policy.yaml";
  RETURN_IF_ERROR(files.WriteAtomically(policy, kAuditPolicy));
  ASSIGN_OR_RETURN(
      api_server_,
      Process::Start({.argv = {bin_ + "/kube-apiserver",
                               "--etcd-servers=" + Loopback(etcd_port),
                               "--bind-address=127.0.0.1",
                               "--secure-port=" + std::to_string(port_),
                               // The server makes its own certificate there.
                               "--cert-dir=" + dir_ + "/certificates",
                               "--service-account-issuer=https://kubernetes.default.svc",
                               "--service-account-key-file=" + key,
                               "--service-account-signing-key-file=" + key,
                               "--authorization-mode=RBAC",
                               "--token-auth-file=" + tokens,
                               "--audit-policy-file=" + policy,
                               "--audit-log-path=" + audit_log(),
                               "--disable-admission-plugins=ServiceAccount",
                               // A loopback address may not be an endpoint.
                               "--endpoint-reconciler-type=none"},
                      .log = dir_ + "/kube-apiserver.log",
                      .env = {kSeldomCollected}}));
  return absl::OkStatus();
}

absl::Status ControlPlane::AwaitReady() {
  const RealClock clock;
  const Clock::Time deadline = clock.Now() + kReadyLimit;
  std::string last = "not tried";
  while (clock.Now() < deadline) {
    if (etcd_->ExitCode().has_value()) {
      return absl::UnavailableError("etcd ended: " + LogTail(dir_ + "/etcd.log"));
    }
    if (api_server_->ExitCode().has_value()) {
      return absl::UnavailableError("kube-apiserver ended: " +
                                    LogTail(dir_ + "/kube-apiserver.log"));
    }
    bool ready = true;
    for (const char* target : {"/readyz", "/api/v1/namespaces/default"}) {
      const absl::StatusOr<HttpAnswer> answer = client_->Do("GET", target);
      ready = ready && answer.ok() && answer->code == 200;
      if (!ready) last = answer.ok() ? answer->body : answer.status().ToString();
    }
    if (ready) return absl::OkStatus();
    clock.SleepUntil(clock.Now() + kPollInterval);
  }
  return absl::UnavailableError("kube-apiserver is not ready: " + last);
}

absl::Status ControlPlane::WriteKubeconfig(const std::string& path, const std::string& token) {
  PosixFileSystem files;
  return files.WriteAtomically(path,
                               "apiVersion: v1\n"
                               "kind: Config\n"
                               "clusters:\n"
                               "- name: test\n"
                               "  cluster: {server: \"" + server() +
                                   "\", certificate-authority: \"" + ca_file_ +
                                   "\"}\n"
                                   "users:\n"
                                   "- name: admin\n"
                                   "  user: {token: " + token +
                                   "}\n"
                                   "contexts:\n"
                                   "- name: test\n"
                                   "  context: {cluster: test, user: admin, namespace: default}\n"
                                   "current-context: test\n");
}

std::string ControlPlane::server() const { return "https://127.0.0.1:" + std::to_string(port_); }

absl::StatusOr<ProgramOutput> ControlPlane::Kubectl(const std::vector<std::string>& arguments) {
  ProcessOptions options{.argv = {bin_ + "/kubectl"},
                         .log = dir_ + "/kubectl.log",
                         .env = {"HOME=" + dir_, "KUBECONFIG=" + kubeconfig_, kNeverCollected}};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  return RunProgram(options);
}

}  // namespace taas
