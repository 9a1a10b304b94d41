// Whether the API server answers, asked every few seconds: the reflectors keep quiet about it.
//
// Ownership: transport and executor outlive it. Threads: the executor's only. Errors: none; they
// are what it tells.
//
//   ClusterWatch watch(transport, executor, [&] { Tell(watch.state()); });
//   watch.Start();

#ifndef DASHBOARD_SERVER_CLUSTER_WATCH_H_
#define DASHBOARD_SERVER_CLUSTER_WATCH_H_

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "operator/base/executor.h"
#include "operator/kube/transport.h"

namespace taas::dashboard {

class ClusterWatch {
 public:
  // One small request; a page says within this and the timeout that what it shows grows old.
  static constexpr std::chrono::seconds kEvery{5};
  static constexpr std::chrono::seconds kTimeout{4};

  struct State {
    bool connected = false;
    std::optional<Clock::WallTime> since;  // Of the last answer before it went away.
    std::string message;                   // Why it does not answer.
  };

  ClusterWatch(KubeTransport& transport, Executor& executor, std::function<void()> on_change);
  ~ClusterWatch();
  void Start() { Ask(); }
  const State& state() const { return state_; }

 private:
  void Ask();
  void OnReply(const absl::StatusOr<HttpReply>& reply);

  KubeTransport& transport_;
  Executor& executor_;
  const std::function<void()> on_change_;
  State state_{.connected = false, .since = {}, .message = "the API server has not answered yet"};
  std::optional<Clock::WallTime> answered_;
  Executor::TimerId timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_CLUSTER_WATCH_H_
