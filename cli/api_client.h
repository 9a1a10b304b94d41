// The API server for a command: ask, wait for the answer, go on.
//
// Ownership: owns executor and transport. Stop() ends the executor, so that what lives on it can be
// destroyed. Threads: one caller; the executor is a thread of its own. Errors: as StatusOfReply,
// and the transport's.
//
//   ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, ApiClient::Create(flag, context, env));
//   ASSIGN_OR_RETURN(const std::string job, api->Get(path, "get job ns/mnist"));

#ifndef CLI_API_CLIENT_H_
#define CLI_API_CLIENT_H_

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/random.h"
#include "operator/base/thread_executor.h"
#include "operator/kube/cpprest_transport.h"
#include "operator/kube/kubeconfig.h"
#include "operator/kube/transport.h"

namespace taas {

// The directory of the local cluster that wrote this kubeconfig; empty: it is another's.
std::string LocalDirOf(const std::string& kubeconfig);

class ApiClient {
 public:
  // Empty `kubeconfig` and `context`: the places that kubectl looks at.
  static absl::StatusOr<std::unique_ptr<ApiClient>> Create(const std::string& kubeconfig,
                                                           const std::string& context,
                                                           const Getenv& env);
  static absl::StatusOr<std::unique_ptr<ApiClient>> Create(const ClusterAccess& access);
  ~ApiClient();

  // Gets what the server has to say beside its answer, each sentence once.
  void set_on_warning(std::function<void(const std::string& warning)> call) {
    on_warning_ = std::move(call);
  }

  // The body of a 2xx reply. `what` says what was attempted, for the message.
  absl::StatusOr<std::string> Get(const std::string& path, const std::string& what);
  absl::StatusOr<std::string> Post(const std::string& path, const std::string& body,
                                   const std::string& what);
  // A JSON merge patch.
  absl::StatusOr<std::string> Patch(const std::string& path, const std::string& body,
                                    const std::string& what);
  // `body`: a metav1.DeleteOptions.
  absl::StatusOr<std::string> Delete(const std::string& path, const std::string& body,
                                     const std::string& what);
  // Each item of the collection at `path`, in pages.
  absl::Status List(const std::string& path, const std::string& label_selector,
                    const std::string& what,
                    const std::function<absl::Status(std::string_view item)>& on_item);

  const std::string& ns() const { return ns_; }  // Of the kubeconfig's context.
  const std::string& source() const { return source_; }  // The kubeconfig's path.
  KubeTransport& transport() { return *transport_; }
  ThreadExecutor& executor() { return executor_; }
  Random& random() { return random_; }
  const Clock& clock() const { return clock_; }
  void Stop() { executor_.Stop(); }

 private:
  ApiClient();
  absl::StatusOr<std::string> Call(HttpRequest request, const std::string& what);

  RealClock clock_;
  SystemRandom random_;
  PosixFileSystem files_;
  std::string ns_;
  std::string source_;
  std::function<void(const std::string& warning)> on_warning_;
  std::set<std::string> warned_;
  ThreadExecutor executor_;
  // Ends first: until then its I/O thread posts to the executor.
  std::unique_ptr<CpprestTransport> transport_;
};

}  // namespace taas

#endif  // CLI_API_CLIENT_H_
