// The API server of the local cluster: what kubectl, the operator and client-go speak to.
//
// Store, Api, garbage collector and an HTTPS server on 127.0.0.1 in one object. The certificate,
// its
// authority and the bearer token are made at the first start and kept in `dir` (0600); nobody gets
// in without the token.
//
// Ownership: owns all of them; clock, random, logs and usage outlive it. Stopping ends all
// connections. Threads: all methods from any thread. Errors: Start: what could not be opened, bound
// or written, with its path.
//
//   ASSIGN_OR_RETURN(auto server,
//                    ApiServer::Start({.dir = dir + "/api"}, clock, random, &node_logs));
//   RETURN_IF_ERROR(server->WriteKubeconfig(dir + "/kubeconfig"));
//   server->api().Handle({.method = "GET", .target = "/api/v1/nodes"});

#ifndef LOCALKUBE_API_API_SERVER_H_
#define LOCALKUBE_API_API_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "localkube/api/api.h"
#include "localkube/api/log_source.h"
#include "localkube/api/store.h"
#include "localkube/api/usage_source.h"
#include "operator/base/clock.h"
#include "operator/base/random.h"

namespace taas::localkube {

class ApiServer {
 public:
  struct Options {
    std::string dir;    // Made with 0700 if missing; holds store.db, tls.pem, token.
    uint16_t port = 0;  // 0: any free one.
    JobAdvice advice = nullptr;  // As Api has it.
  };

  // Answers when it returns. `random` is asked from several threads: give a SystemRandom. `logs`
  // and `usage` as Api has them.
  static absl::StatusOr<std::unique_ptr<ApiServer>> Start(Options options, const Clock& clock,
                                                          Random& random, LogSource* logs,
                                                          const UsageSource* usage = nullptr);
  virtual ~ApiServer() = default;

  virtual Api& api() = 0;
  virtual Store& store() = 0;
  virtual uint16_t port() const = 0;
  virtual std::string url() const = 0;  // "https://127.0.0.1:6443"
  virtual std::string token() const = 0;
  virtual std::string ca_pem() const = 0;
  // A kubeconfig with 0600 that gives its reader everything, written in one step.
  virtual absl::Status WriteKubeconfig(const std::string& path) const = 0;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_API_SERVER_H_
