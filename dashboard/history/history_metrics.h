// What the pods of jobs use, read for the history with the dashboard's own account: one question
// for all namespaces that it shows.
//
// A namespace for which the cluster measures nothing, or does not answer, or not this account, is
// left alone for a while, and the others are not; the log has one line.
//
// Ownership: what is given at construction outlives it. Threads: the executor's only; `done` may be
// called inside the call. Errors: none; of whom nobody knows nothing is told.
//
//   metrics.Fetch([](const HistoryMetrics::Used& used) { used.find({"ml", "mnist-worker-0"}); … });

#ifndef DASHBOARD_HISTORY_HISTORY_METRICS_H_
#define DASHBOARD_HISTORY_HISTORY_METRICS_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dashboard/history/history_usage.h"
#include "operator/base/executor.h"
#include "operator/kube/transport.h"

namespace taas::dashboard {

class HistoryMetrics {
 public:
  static constexpr std::chrono::minutes kRefusedAgain{10};
  // After any other failure: who is overloaded is not helped by being asked.
  static constexpr std::chrono::minutes kFailedAgain{1};
  static constexpr std::chrono::seconds kTimeout{5};
  // Of 10,000 pods with some labels each.
  static constexpr size_t kBodyBytesMax = 16 << 20;

  using Used = std::map<std::pair<std::string, std::string>, ReplicaUse>;  // By namespace and pod.
  using Done = std::function<void(const Used& used)>;

  // `namespaces`: empty: all.
  HistoryMetrics(KubeTransport& own, Executor& executor, std::vector<std::string> namespaces);

  void Fetch(Done done);

 private:
  struct Round {
    std::vector<std::string> left;
    Used used;
    Done done;
  };

  void AskNext(std::shared_ptr<Round> round);
  void OnReply(const std::string& ns, const absl::StatusOr<HttpReply>& reply, Used* used);
  void Refused(const std::string& ns, int code);
  void Failed(const std::string& ns, const std::string& why);

  KubeTransport& own_;
  Executor& executor_;
  const std::vector<std::string> namespaces_;
  std::map<std::string, Clock::Time> asks_from_;  // Of the namespaces that are left alone.
  std::set<std::string> failing_;
  bool refused_logged_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_HISTORY_HISTORY_METRICS_H_
