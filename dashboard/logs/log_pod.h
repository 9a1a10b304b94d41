// The pods of a job, as far as their logs go.
//
// Ownership: values. Threads: the executor's only. Errors: none.
//
//   for (const LogPod& pod : LogPodsOf(board.cache(), *job)) Read(pod);

#ifndef DASHBOARD_LOGS_LOG_POD_H_
#define DASHBOARD_LOGS_LOG_POD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "dashboard/server/cluster_cache.h"

namespace taas::dashboard {

struct LogPod {
  enum class State { kWaiting, kRunning, kEnded };
  std::string uid, ns, name;
  std::string replica;    // "worker-1"
  std::string container;  // Whose log it is; empty: the API server chooses.
  int32_t pod_number = 0;
  State state = State::kWaiting;
  std::string message;  // Why it waits, or how it ended.
};

// By role, index and number. An earlier pod of a replica is there for as long as it exists.
std::vector<LogPod> LogPodsOf(const ClusterCache& cache, const WatchedJob& job);

}  // namespace taas::dashboard

#endif  // DASHBOARD_LOGS_LOG_POD_H_
