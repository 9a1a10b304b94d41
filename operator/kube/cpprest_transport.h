// KubeTransport over cpprestsdk, whose headers the files cpprest_*.cc here include and no others.
//
// cpprestsdk is archived, and repeats a POST when a kept connection turns out to be closed: names
// are deterministic and updates carry versions, so a repeated write is harmless (README.md). It is
// HTTP/1.1 and ignores proxy variables, which is documented as unsupported.
//
// Ownership: files and executor must outlive it; destroying it cancels everything and drops the
// callbacks. Threads: as KubeTransport; one I/O thread of the process. Errors: as
// KubeTransport; Create fails for credentials that cannot be read.
//
//   ASSIGN_OR_RETURN(const std::unique_ptr<CpprestTransport> transport,
//                    CpprestTransport::Create(access, files, executor, {}));

#ifndef OPERATOR_KUBE_CPPREST_TRANSPORT_H_
#define OPERATOR_KUBE_CPPREST_TRANSPORT_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "operator/base/executor.h"
#include "operator/base/file_system.h"
#include "operator/base/version.h"
#include "operator/kube/kubeconfig.h"
#include "operator/kube/transport.h"
#include "operator/kube/write_gate.h"

namespace taas {

class CpprestTransport : public KubeTransport {
 public:
  struct Options {
    std::string user_agent = std::string("taas/") + kVersion;
    // Of one reply that is not a stream; a page of a list says its own (paging/page_size.h).
    size_t body_bytes_max = 64 << 20;
    int writes_max = kApiWritesDefault;
    // Each write passes it when it is sent and directly before its body leaves; outlives the
    // transport. Null: all may pass.
    WriteGate* gate = nullptr;
  };

  static absl::StatusOr<std::unique_ptr<CpprestTransport>> Create(const ClusterAccess& access,
                                                                  FileSystem& files,
                                                                  Executor& executor,
                                                                  Options options);
  ~CpprestTransport() override;

  // As the destructor, and waits until the library has let go of all requests: a program that ends
  // before takes from its thread what it works with. False: it has not within `limit`.
  bool Close(std::chrono::milliseconds limit);

  void Do(HttpRequest request, OnReply done) override;
  std::unique_ptr<StreamHandle> Stream(HttpRequest request, StreamCalls calls) override;

 private:
  class Core;
  explicit CpprestTransport(std::shared_ptr<Core> core);

  const std::shared_ptr<Core> core_;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_CPPREST_TRANSPORT_H_
