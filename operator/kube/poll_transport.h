// GET of a page that a pod serves: /status, /series.
//
// Ownership: outlives the polls that were started on it. Threads: Get from the executor's thread;
// callbacks on the executor, never inside the call. Errors: Unavailable with the cause; a reply
// other than 200 is one.
//
//   poll.Get("10.0.0.7", 2223, "/status", [](absl::StatusOr<std::string> body) { … });

#ifndef OPERATOR_KUBE_POLL_TRANSPORT_H_
#define OPERATOR_KUBE_POLL_TRANSPORT_H_

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

// Over TCP, on a thread of its own; a poll has `kPollTimeout` for everything and `kPollBytesMax`
// for its body, since the other end is a program of the user's.
class TcpPollTransport : public PollTransport {
 public:
  explicit TcpPollTransport(Executor& executor);
  // Drops the polls that are under way.
  ~TcpPollTransport() override;
  void Get(const std::string& host, int32_t port, const std::string& path, Done done) override;

 private:
  struct Io;
  Executor& executor_;
  const std::unique_ptr<Io> io_;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_POLL_TRANSPORT_H_
