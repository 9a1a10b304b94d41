// The log of one container while it is written: each line once, over lost connections.
//
// Ownership: transport and clock outlive it; destroying it ends the stream. Threads: the
// executor's of the transport. Errors: none are told; who opens it looks at read_whole and
// failures when `ended` comes, and opens it again.
//
//   ContainerLog log(transport, clock, {.ns = "ns", .pod = "a", .container = "trainer"}, print,
//                    ended);
//   log.Open();

#ifndef CLI_CONTAINER_LOG_H_
#define CLI_CONTAINER_LOG_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "operator/base/clock.h"
#include "operator/kube/line_splitter.h"
#include "operator/kube/log_line.h"
#include "operator/kube/transport.h"

namespace taas {

class ContainerLog {
 public:
  // Before a log is asked for again: the container starts, or the connection was lost.
  static constexpr std::chrono::seconds kAgain{1};
  // A pod that has ended and still cannot be read this often has lost its log.
  static constexpr int kFailuresMax = 5;
  // A server may take this long to begin with the log of a pod that has stopped.
  static constexpr std::chrono::seconds kAnswer{10};

  struct Options {
    std::string ns;
    std::string pod;
    std::string container;
    // Of what was written before: only lines since then, only the last so many. Empty: all.
    std::string since_time;
    std::string tail_lines;
  };
  using Print = std::function<void(std::string_view line)>;

  ContainerLog(KubeTransport& transport, const Clock& clock, Options options, Print print,
               std::function<void()> ended);

  // From where it was left. `ended` is a call of the stream: it must not open another at once.
  void Open();

  // Of the present request; 0: no answer yet.
  int code() const { return code_; }
  // The server has ended it, and nothing was lost.
  bool read_whole() const { return code_ == 200 && failures_ == 0; }
  int failures() const { return failures_; }      // In a row.
  Clock::Time heard() const { return heard_; }  // When anything came.

 private:
  void OnData(std::string_view chunk);
  void OnEnded(const absl::Status& status);
  void PrintLine(std::string_view text);

  KubeTransport& transport_;
  const Clock& clock_;
  const Options options_;
  const Print print_;
  const std::function<void()> ended_;
  int code_ = 0;
  int failures_ = 0;
  Clock::Time heard_{};
  LineSplitter lines_;
  SeenLines seen_;
  std::unique_ptr<KubeTransport::StreamHandle> stream_;
};

}  // namespace taas

#endif  // CLI_CONTAINER_LOG_H_
