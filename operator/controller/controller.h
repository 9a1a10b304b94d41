// Keeps every TrainingJob and TFJob where its plan wants it: view → plan → writes → view.
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
// Where several of these run (leader election), all but one stand by: they see what the leader
// sees, so that a hand-over takes no lists, and Lead makes one the leader for the rest of its life.
//
//   Controller controller(transport, executor, random, poll, ports, metrics, {});
//   controller.Start();

#ifndef OPERATOR_CONTROLLER_CONTROLLER_H_
#define OPERATOR_CONTROLLER_CONTROLLER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/executor.h"
#include "operator/base/random.h"
#include "operator/controller/api_writer.h"
#include "operator/controller/cluster_map_memory.h"
#include "operator/controller/cluster_view.h"
#include "operator/controller/event_writer.h"
#include "operator/controller/job_metrics.h"
#include "operator/controller/job_reporter.h"
#include "operator/controller/job_writer.h"
#include "operator/controller/kept_fields.h"
#include "operator/controller/metrics.h"
#include "operator/controller/object_writer.h"
#include "operator/controller/obstacles.h"
#include "operator/controller/pacing.h"
#include "operator/controller/port_source.h"
#include "operator/controller/template_warnings.h"
#include "operator/controller/trainer_poller.h"
#include "operator/kube/poll_transport.h"
#include "operator/kube/transport.h"
#include "operator/kube/work_queue.h"
#include "operator/plan/plan.h"

namespace taas {

class Controller {
 public:
  struct Options {
    ClusterView::Options view;
    std::string trainer_image;
    std::string trainer_cuda_image;  // Of replicas with GPUs; empty: trainer_image as well.
    AddressOptions addresses;
    std::string gpu_resource = "nvidia.com/gpu";
    bool legacy_labels = false;  // On pods of TFJobs.
    GangOptions gang;
    bool adopt = false;  // TFJobs that another controller began.
    WorkQueue::Options queue;
    // Leaders are elected: until Lead it follows what happens, and writes nothing.
    bool standby = false;
    // An object of ours tells of a later leader than this one. Its job is left alone until
    // DisproveEpochs says that there is none.
    std::function<void(int64_t epoch)> on_later_epoch = [](int64_t) {};
    std::function<Plan(const Snapshot&)> plan = PlanJob;
  };

  Controller(KubeTransport& transport, Executor& executor, Random& random, PollTransport& poll,
             PortSource& ports, Metrics& metrics, Options options);
  ~Controller();

  void Start();
  // Of a standby: from now on it keeps the jobs going. `epoch` is higher than any leader's before.
  void Lead(int64_t epoch);
  // Whatever objects say: no leader up to `epoch` comes after this one.
  void DisproveEpochs(int64_t epoch) { disproved_ = std::max(disproved_, epoch); }
  // The highest that any object tells of.
  int64_t known_epoch() const { return view_.HighestEpoch(); }
  bool synced() const { return view_.synced(); }

 private:
  // What is remembered of a job between two looks; all of it may be lost.
  struct Tracked {
    std::string uid;
    int64_t generation = 0;  // Of the spec that was looked at last.
    JobMetrics counted;
    StatusWrites status_writes;
    uint32_t status_refusals = 0;  // In a row.
    Clock::Time status_refused_until{};
    Obstacles obstacles;
    JobReporter::Memory told;
    bool hands_off = false;  // Another controller is at work on it.
    ClusterMapMemory cluster_map;
    TemplateWarnings template_warnings;
  };
  // One look at one job, until the last reply to its writes.
  struct Look;

  void Process(const std::string& key);
  void PlanAndExecute(const std::shared_ptr<Look>& look);
  void OnInternalError(const std::shared_ptr<Look>& look, const std::string& what);
  void OnUnreadable(const Job& job, const std::string& why);
  // Ends the look at a job that the view does not have: says what is wrong with it, if anything.
  void LookAtUnreadable(const std::string& key);
  void TellUnreadable(const Job& job, const std::string& why);
  // What a standby does with a key.
  void Follow(const std::string& key);
  // Of the job's objects, if it is of a later leader; 0: none is.
  int64_t LaterEpochOf(const Job& job) const;
  void OnOrphan(const Pod& pod);
  void KeepHandsOff(const Look& look, Tracked& tracked);
  void CountHandsOff(int jobs);
  Tracked& TrackedOf(const std::string& key, const Job& job);
  // What is remembered of the job that `look` is about; null: it is another by now.
  Tracked* SameJob(const Look& look);
  void Forget(const std::string& key);
  // Something is to be seen of the job; the first time counts as when its launch began.
  void Hear(const std::string& key);
  Snapshot TakeSnapshot(const std::string& key, const Job& job, Tracked& tracked);
  Plan MakePlan(Snapshot& snapshot);
  std::set<int32_t> PortsInUse() const;

  // True of a step whose time has not come.
  static bool IsHeld(const Job& job, const Tracked& tracked, const Step& step);
  void Execute(const std::shared_ptr<Look>& look);
  // Sends what is left to send, so far as not too much is under way.
  void SendMore(const std::shared_ptr<Look>& look);
  void Send(const std::shared_ptr<Look>& look, size_t index);
  void OnWritten(const std::shared_ptr<Look>& look, const Step& step, const WriteResult& result);
  void OnDone(Look& look, const Step& step, const WriteResult& result);
  void OnPodMade(Look& look, const CreatePod& made, const WriteResult& result);
  void OnTaken(const Look& look, const WriteResult& result);
  void OnRefused(Look& look, const Step& step, WriteResult result);
  void Finish(const std::shared_ptr<Look>& look);
  void WriteStatus(const std::shared_ptr<Look>& look, bool decision);
  void CloseLook(const std::shared_ptr<Look>& look);

  Executor& executor_;
  Random& random_;
  PortSource& ports_;
  Metrics& metrics_;
  const Options options_;
  std::map<std::string, Tracked> tracked_;  // By key.
  std::map<std::string, Clock::WallTime> heard_;  // Of jobs that wait for their first look.
  std::map<JobKind, KeptFields> kept_;      // Of the status; both kinds' CRDs may be another's.
  bool leads_;
  int64_t epoch_ = 0;      // 0: leaders are not elected.
  int hands_off_ = 0;      // Jobs that another controller is at work on.
  int64_t disproved_ = 0;  // Epochs up to this one, though later, are nobody's.
  // What cannot be read, by key, and nobody has been told of yet.
  std::map<std::string, std::pair<Job, std::string>> unreadable_;
  WorkQueue queue_;
  ClusterView view_;
  ApiWriter api_;
  ObjectWriter objects_;
  JobWriter writer_;
  EventWriter events_;
  JobReporter reporter_;
  TrainerPoller poller_;
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_CONTROLLER_H_
