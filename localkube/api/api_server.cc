#include "localkube/api/api_server.h"

#include <openssl/rand.h>

#include <utility>

#include "localkube/api/base64.h"
#include "localkube/api/garbage_collector.h"
#include "localkube/api/https_server.h"
#include "localkube/api/private_file.h"
#include "localkube/api/tls_identity.h"
#include "operator/base/file_system.h"
#include "operator/base/status.h"
#include "operator/base/thread_executor.h"

namespace taas::localkube {
namespace {

constexpr size_t kTokenBytes = 32;

absl::StatusOr<std::string> MakeToken() {
  unsigned char bytes[kTokenBytes];
  if (RAND_bytes(bytes, sizeof bytes) != 1) {
    return absl::UnavailableError("make the API server's token: no random bytes");
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string token;
  for (unsigned char byte : bytes) {
    token += kDigits[byte >> 4];
    token += kDigits[byte & 15];
  }
  return token;
}

// The file's text; if there is none, one with what `make` gives.
template <typename Make>
absl::StatusOr<std::string> KeepPrivate(const std::string& path, Make make) {
  PosixFileSystem files;
  ASSIGN_OR_RETURN(const bool exists, files.Exists(path));
  if (exists) return files.ReadAll(path);
  ASSIGN_OR_RETURN(const std::string text, make());
  RETURN_IF_ERROR(WritePrivateFile(path, text));
  return text;
}

class RunningServer : public ApiServer {
 public:
  RunningServer(std::unique_ptr<Store> store, const Clock& clock, Random& random,
                LogSource* logs, const UsageSource* usage, std::string token, JobAdvice advice)
      : store_(std::move(store)),
        token_(std::move(token)),
        api_(*store_, clock, random, logs, usage, token_, std::move(advice)),
        rest_(*store_, clock, random),
        executor_(clock, "api-gc"),
        collector_(*store_, rest_, executor_, clock) {}

  ~RunningServer() override {
    https_.reset();  // Streams end before the store does.
    executor_.Stop();
    collector_.Stop();
  }

  absl::Status Begin(const Options& options) {
    RETURN_IF_ERROR(api_.Bootstrap());
    ASSIGN_OR_RETURN(const std::string pem,
                     KeepPrivate(options.dir + "/tls.pem", []() -> absl::StatusOr<std::string> {
                       ASSIGN_OR_RETURN(const TlsIdentity identity, MakeTlsIdentity());
                       return FormatTlsIdentity(identity);
                     }));
    const auto identity = ParseTlsIdentity(pem);
    if (!identity.ok()) return Annotate(identity.status(), "read " + options.dir + "/tls.pem");
    ca_pem_ = identity->ca_pem;
    collector_.Start();
    ASSIGN_OR_RETURN(https_, HttpsServer::Start(
                                 {.port = options.port,
                                  .key_pem = identity->key_pem,
                                  .certificate_pem = identity->certificate_pem,
                                  .token = token_},
                                 [this](const ApiRequest& request) {
                                   return api_.Handle(request);
                                 }));
    return absl::OkStatus();
  }

  Api& api() override { return api_; }
  Store& store() override { return *store_; }
  uint16_t port() const override { return https_->port(); }
  std::string url() const override { return "https://127.0.0.1:" + std::to_string(port()); }
  std::string token() const override { return token_; }
  std::string ca_pem() const override { return ca_pem_; }

  absl::Status WriteKubeconfig(const std::string& path) const override {
    return WritePrivateFile(path, "apiVersion: v1\n"
                                  "kind: Config\n"
                                  "clusters:\n"
                                  "- name: taas-local\n"
                                  "  cluster:\n"
                                  "    server: " + url() + "\n"
                                  "    certificate-authority-data: " + EncodeBase64(ca_pem_) + "\n"
                                  "users:\n"
                                  "- name: taas-local\n"
                                  "  user:\n"
                                  "    token: " + token_ + "\n"
                                  "contexts:\n"
                                  "- name: taas-local\n"
                                  "  context:\n"
                                  "    cluster: taas-local\n"
                                  "    user: taas-local\n"
                                  "    namespace: default\n"
                                  "current-context: taas-local\n");
  }

 private:
  const std::unique_ptr<Store> store_;
  const std::string token_;
  Api api_;
  Rest rest_;  // The collector's.
  ThreadExecutor executor_;
  GarbageCollector collector_;
  std::string ca_pem_;
  std::unique_ptr<HttpsServer> https_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ApiServer>> ApiServer::Start(Options options, const Clock& clock,
                                                            Random& random, LogSource* logs,
                                                            const UsageSource* usage) {
  RETURN_IF_ERROR(MakePrivateDir(options.dir));
  ASSIGN_OR_RETURN(std::unique_ptr<Store> store, Store::Open({.path = options.dir + "/store.db"}));
  ASSIGN_OR_RETURN(std::string token, KeepPrivate(options.dir + "/token", MakeToken));
  auto server = std::make_unique<RunningServer>(std::move(store), clock, random, logs, usage,
                                                std::move(token), options.advice);
  RETURN_IF_ERROR(server->Begin(options));
  return std::unique_ptr<ApiServer>(std::move(server));
}

}  // namespace taas::localkube
