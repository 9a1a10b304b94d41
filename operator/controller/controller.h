// Keeps every training job where its plan wants it: view → plan → writes → view.
//
// Level-triggered: an event only says which job to look at. One job is looked at once at a time;
// the writes of one plan are in flight together. Whatever is lost (a reply, an event, this process)
// is made good by the next look, because the plan depends on the state of the world and on the
// ledger only.
//
// Ownership: everything passed in must outlive it; destroying it stops at once, in the middle of
// whatever it does. Threads: the executor's only, also for construction and destruction unless the
// executor stands still. Errors: none reach the caller; they stand in status.message, events, logs
// and metrics. An exception out of the planning of one job (a broken invariant) is caught: that job
// is marked with it and tried again later, the others go on.
//
//   Controller controller(transport, executor, random, poll, ports, metrics, {});
//   controller.Start();

#ifndef OPERATOR_CONTROLLER_CONTROLLER_H_
#define OPERATOR_CONTROLLER_CONTROLLER_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "operator/base/executor.h"
#include "operator/base/random.h"
#include "operator/controller/cluster_view.h"
#include "operator/controller/job_writer.h"
#include "operator/controller/metrics.h"
#include "operator/controller/poll_transport.h"
#include "operator/controller/port_source.h"
#include "operator/kube/transport.h"
#include "operator/kube/work_queue.h"
#include "operator/plan/plan.h"

namespace taas {

class Controller {
 public:
  struct Options {
    std::vector<std::string> namespaces;  // Empty: all.
    std::string trainer_image;
    AddressOptions addresses;
    WorkQueue::Options queue;
    std::function<Plan(const Snapshot&)> plan = PlanJob;
  };

  Controller(KubeTransport& transport, Executor& executor, Random& random, PollTransport& poll,
             PortSource& ports, Metrics& metrics, Options options);
  ~Controller();

  void Start();
  bool synced() const { return view_.synced(); }
  // Nothing waits and nothing is under way; timers do not count.
  bool idle() const { return queue_.depth() == 0 && queue_.in_flight() == 0; }

 private:
  // What is remembered of a job between two looks; all of it may be lost.
  struct Tracked {
    std::string uid;
    std::optional<JobState> state;  // As counted in the metrics.
    Clock::Time status_written{};
    bool status_ever_written = false;
    std::optional<TrainerReport> polled;
    Executor::TimerId poll_timer = 0;
    bool poll_under_way = false;
    int polls = 0;
    // A refusal by the API server holds creations back until then.
    std::string refusal;
    bool ledger_refused = false;  // It was about the ledger: then nothing that it would allow.
    Clock::Time refused_until{};
    int refusals = 0;
    // Pods and a service under our names that the view does not show, as found when a create
    // failed.
    std::map<std::string, Pod> foreign_pods;
    std::optional<ServiceView> foreign_service;
    Clock::Time foreign_until{};
    std::set<std::string> reported;  // What there was an event for, by kind and cause.
    bool first_pod_observed = false;
    bool all_pods_observed = false;
    bool pods_announced = false;
  };
  // One look at one job, until the last reply to its writes.
  struct Look;

  void Process(const std::string& key);
  void PlanAndExecute(const std::shared_ptr<Look>& look);
  void OnInternalError(const std::shared_ptr<Look>& look, const std::string& what);
  Tracked& TrackedOf(const std::string& key, const Job& job);
  void Forget(const std::string& key);
  Snapshot TakeSnapshot(const std::string& key, const Job& job, Tracked& tracked);
  Plan MakePlan(Snapshot& snapshot);
  std::set<int32_t> PortsInUse() const;

  void Execute(const std::shared_ptr<Look>& look);
  void Execute(const std::shared_ptr<Look>& look, const Step& step);
  void OnWritten(const std::shared_ptr<Look>& look, const Step& step, const WriteResult& result);
  void OnLedgerWritten(const Look& look, const WriteLedger& step);
  void OnRefused(const Look& look, const Step& step, const WriteResult& result);
  // One event per job and cause.
  void Report(const Look& look, Tracked& tracked, const std::string& cause,
              const std::string& reason, const std::string& message);
  void Finish(const std::shared_ptr<Look>& look);
  void WriteStatus(const std::shared_ptr<Look>& look);
  // Zero: now. Nothing: there is nothing to write.
  std::optional<Clock::Duration> StatusDelay(const Look& look, const Tracked& tracked) const;
  void CloseLook(const std::shared_ptr<Look>& look);
  void ReportConflicts(const Look& look, Tracked& tracked);
  void AnnouncePods(const Look& look, Tracked& tracked);
  void ObserveLaunch(const Job& job, const JobStatus& status, Tracked& tracked);

  void SchedulePoll(const std::string& key, Tracked& tracked, const JobStatus& status);
  void Poll(const std::string& key);
  void OnPolled(const std::string& key, const std::string& uid,
                const absl::StatusOr<std::string>& body);

  Executor& executor_;
  PollTransport& poll_;
  PortSource& ports_;
  Metrics& metrics_;
  const Options options_;
  std::map<std::string, Tracked> tracked_;
  WorkQueue queue_;
  ClusterView view_;
  JobWriter writer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_CONTROLLER_H_
