// Asks the main replica of every running job for its /status, again and again.
//
// Own images need not answer: their polls fail and cost nothing but themselves.
//
// Ownership: executor, transport and view must outlive it; destroying it ends the timers and drops
// the answers. Threads: the executor's only. Errors: none; no answer is no report.
//
//   TrainerPoller poller(executor, transport, view, addresses, [&](const auto& key) { … });
//   poller.Follow(key, job, plan.status);
//   snapshot.polled = poller.ReportOf(key);

#ifndef OPERATOR_CONTROLLER_TRAINER_POLLER_H_
#define OPERATOR_CONTROLLER_TRAINER_POLLER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "operator/api/job.h"
#include "operator/base/executor.h"
#include "operator/controller/cluster_view.h"
#include "operator/kube/poll_transport.h"
#include "operator/plan/address_scheme.h"
#include "operator/plan/trainer_report.h"

namespace taas {

class TrainerPoller {
 public:
  // There is an answer, or none any more.
  using OnReport = std::function<void(const std::string& key)>;

  TrainerPoller(Executor& executor, PollTransport& transport, ClusterView& view,
                AddressOptions addresses, OnReport on_report);
  ~TrainerPoller();

  // The job is in this state now: schedules its next poll, or ends them.
  void Follow(const std::string& key, const Job& job, const JobStatus& status);
  void Forget(const std::string& key);
  // What the main replica last answered.
  std::optional<TrainerReport> ReportOf(const std::string& key) const;

 private:
  struct Polled {
    std::string uid;
    std::optional<TrainerReport> report;
    Executor::TimerId timer = 0;
    bool under_way = false;
    int polls = 0;
    int silent = 0;  // In a row without an answer.
  };

  void Poll(const std::string& key);
  void OnPolled(const std::string& key, const std::string& uid,
                const absl::StatusOr<std::string>& body);

  Executor& executor_;
  PollTransport& transport_;
  ClusterView& view_;
  const AddressOptions addresses_;
  const OnReport on_report_;
  std::map<std::string, Polled> jobs_;  // By key.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_TRAINER_POLLER_H_
