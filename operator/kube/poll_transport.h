// GET of a page that a pod serves: /status, /series.
//
// Ownership: outlives the polls that were started on it. Threads: Get from the executor's thread;
// callbacks on the executor, never inside the call. Errors: Unavailable with the cause; a reply
// other than 200 is one.
//
//   poll.Get("10.0.0.7", 2223, "/status", [](absl::StatusOr<std::string> body) { … });

#ifndef OPERATOR_KUBE_POLL_TRANSPORT_H_
#define OPERATOR_KUBE_POLL_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "operator/base/executor.h"

namespace taas {

class PollTransport {
 public:
  using Done = std::function<void(absl::StatusOr<std::string> body)>;
  virtual ~PollTransport() = default;
  virtual void Get(const std::string& host, int32_t port, const std::string& path, Done done) = 0;
};

// What the other ends, which are programs of the users', can make us hold.
struct PollLimits {
  // Of one answer. A report is 1 KB, the chief's with a thousand peers 200 KB, and with eight GPUs
  // of each 2.3 MB.
  size_t body_bytes_max = 4 << 20;
  // Of all answers that are being received or waiting to be read, but for their first
  // `kSmallAnswer` bytes: who lets many pods give long answers at once gets few of them read.
  size_t together_bytes_max = 32 << 20;
};
// The report of a job of some tens of replicas; a thousand of these are 16 MB.
inline constexpr size_t kSmallAnswer = 16 << 10;

// Over TCP, on a thread of its own; a poll has `kPollTimeout` for everything.
class TcpPollTransport : public PollTransport {
 public:
  explicit TcpPollTransport(Executor& executor, PollLimits limits = {});
  // Drops the polls that are under way.
  ~TcpPollTransport() override;
  void Get(const std::string& host, int32_t port, const std::string& path, Done done) override;

 private:
  struct Io;
  Executor& executor_;
  const PollLimits limits_;
  const std::unique_ptr<Io> io_;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_POLL_TRANSPORT_H_
