// The last lines of the pods of a job, once, under the dashboard's own account: for its history.
//
// Ownership: the transport outlives the answers; what is under way keeps itself alive. Threads: the
// executor's of the transport; `done` comes there, once, never inside the call, and not at all
// where the transport is destroyed before. Errors: in LogTail::error, of each pod by itself.
//
//   ReadLogTails(transport, LogPodsOf(cache, *job), {}, [](std::vector<LogTail> tails) { … });

#ifndef DASHBOARD_LOGS_LOG_TAIL_H_
#define DASHBOARD_LOGS_LOG_TAIL_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "dashboard/logs/log_pod.h"
#include "operator/base/executor.h"
#include "operator/kube/log_line.h"
#include "operator/kube/transport.h"

namespace taas::dashboard {

struct LogTail {
  std::string replica;
  std::string pod;  // Its name.
  std::vector<LogLine> lines;
  bool truncated = false;  // There were lines before these.
  std::string error;       // Why it could not be read; empty: it could.
};

struct LogTailOptions {
  // Enough for the message of an exception with what led to it; a hundred pods are 25 MB.
  int lines = 1'000;
  size_t bytes = 256 << 10;
  // Requests under way.
  size_t at_once = 4;
};

// One for each pod that has started, in their order.
void ReadLogTails(KubeTransport& transport, Executor& executor, const std::vector<LogPod>& pods,
                  const LogTailOptions& options,
                  std::function<void(std::vector<LogTail> tails)> done);

}  // namespace taas::dashboard

#endif  // DASHBOARD_LOGS_LOG_TAIL_H_
