// Sees jobs come, run, end and go, and puts what is worth keeping of them into the history.
//
// Of a job that runs: its row now and then, its manifest, its curves: it may be deleted while
// nobody looks. Of one that ends: all of it, at once and again when things have settled. Of each
// replica that ends: the last lines of its log, before its pod is gone. After a start of the
// dashboard what the file knows is held against what the cluster has.
//
//   Start ─▶ file open ─▶ cluster listed ─▶ held against each other ─▶ follows every change
//
// Ownership: what is given at construction outlives it. Threads: the executor's only. Errors: none;
// what cannot be read is tried again while the job is there.
//
//   HistoryRecorder recorder({.executor = executor, .store = store, …});
//   recorder.Start();
//   recorder.OnChanged(job);   // Board::Witness

#ifndef DASHBOARD_HISTORY_HISTORY_RECORDER_H_
#define DASHBOARD_HISTORY_HISTORY_RECORDER_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dashboard/history/history_calls.h"
#include "dashboard/history/history_store.h"
#include "dashboard/history/history_tails.h"
#include "dashboard/server/watched.h"
#include "operator/base/executor.h"
#include "operator/kube/transport.h"

namespace taas::dashboard {

// What the recorder sees of the cluster, and whom it asks.
struct HistorySource {
  using JobPtr = std::shared_ptr<const WatchedJob>;
  using Pods = std::vector<std::shared_ptr<const WatchedPod>>;
  using Events = std::vector<std::shared_ptr<const WatchedEvent>>;

  std::function<bool()> synced;
  std::function<std::vector<JobPtr>()> jobs;
  std::function<JobPtr(const std::string& key)> find;  // Null: there is none.
  std::function<Pods(const WatchedJob& job)> pods_of;
  std::function<Events(const WatchedJob& job, const Pods& pods)> events_of;  // Oldest first.
  // Whether jobs of this kind in this namespace are looked at: what is not may well be there.
  std::function<bool(JobKind kind, const std::string& ns)> watches;

  // A SeriesAnswer of dashboard/web, from whichever of the pods answers. All functions call `done`
  // once, at any time, on the executor.
  std::function<void(const JobPtr& job, const Pods& pods,
                     std::function<void(absl::StatusOr<std::string> answer)> done)>
      fetch_series;
  // What the job's event files have, as a SeriesAnswer; "": nothing. Null: nobody can see them.
  std::function<void(const JobPtr& job, const Pods& pods,
                     std::function<void(std::string curves)> done)>
      fetch_files = nullptr;
  // The job's checkpoints as they are now, as a JobCheckpoints of dashboard/web; "": nobody says.
  // Null: nobody is asked.
  std::function<void(const JobPtr& job, const Pods& pods,
                     std::function<void(std::string checkpoints)> done)>
      fetch_checkpoints = nullptr;
  // What these jobs' pods use now, by uid of the pod; of those that are not measured nothing. Null:
  // nobody measures.
  std::function<void(const std::vector<JobPtr>& jobs,
                     std::function<void(const std::map<std::string, ReplicaUse>& used)> done)>
      fetch_usage = nullptr;
  // The last kLogTailLines of each pod, by its name; those that cannot be read are left out.
  std::function<void(const JobPtr& job, const Pods& pods,
                     std::function<void(std::vector<HistoryTail> tails)> done)>
      fetch_tails;
};

class HistoryRecorder {
 public:
  static constexpr std::chrono::seconds kTick{1};
  // Of the row of a job that runs: what is lost where it is deleted while no dashboard looks.
  static constexpr std::chrono::seconds kRowEvery{60};
  // Curves of a job: at once, since a first try is over in two seconds, then ever more rarely; near
  // its end more often again, since what its chief does not tell before it ends is lost.
  static constexpr std::chrono::seconds kSeriesFirst{1};
  static constexpr std::chrono::seconds kSeriesEvery{60};
  // Asked for in one second: joining and packing a job's curves takes the disk's thread some 30 ms.
  static constexpr size_t kSeriesPerTick = 4;
  // What its replicas use: soon, since a first try is over in a minute, then once in a sixtieth of
  // the time that it has run.
  static constexpr std::chrono::seconds kUsageFirst{5};
  static constexpr std::chrono::seconds kUsageEvery{60};
  // Between two questions, whoever is due: a metrics-server measures every 15 s and would answer
  // the same, for all pods of the cluster.
  static constexpr std::chrono::seconds kUsageAgain{15};
  // One answer is for as many jobs as are written until the next one, kSeriesPerTick in a tick.
  static constexpr size_t kUsageJobsMax = kSeriesPerTick * (kUsageAgain / kTick);
  // After its end a job is looked at so many times again, this far apart: late events, pods that
  // are still being ended, what could not be read at once.
  static constexpr std::chrono::seconds kSettle{20};
  static constexpr int kSettleSteps = 3;
  // Looked at in one task: some 10 ms. A start and each review of the board bring all jobs at once.
  static constexpr size_t kLooksPerTask = 50;
  // Between two requests for the same manifest, and after a refusal between any two.
  static constexpr std::chrono::seconds kManifestAgain{60};
  static constexpr std::chrono::minutes kRefusedAgain{10};
  static constexpr size_t kTailPodsPerCall = 16;
  // What was written into a job's event files later than this after its end is another job's.
  static constexpr std::chrono::seconds kWrittenAfterEnd{60};

  struct Context {
    Executor& executor;
    HistoryStore& store;
    KubeTransport& own;  // With the dashboard's own account.
    HistorySource source;
  };

  explicit HistoryRecorder(Context context);
  ~HistoryRecorder();

  void Start();
  // Anything of it; looked at soon.
  void OnChanged(const WatchedJob& job);
  // Its last state.
  void OnGone(const WatchedJob& job);

 private:
  using Pods = HistorySource::Pods;
  struct Known {
    std::string key;
    bool over = false;     // Its end is in the history.
    bool settled = false;  // Nothing more is to be found out.
    int settle_steps = 0;  // That are still to come; with `over`.
    std::optional<size_t> mark;  // Of what was last written: the same again is not.
    Clock::Time row_due{};
    int64_t generation = -1;     // Of the manifest that is kept.
    bool last_manifest = false;  // It is from after the end.
    Clock::Time manifest_due{};
    HistoryTails tails;
    bool series_waits = false;  // For its turn in series_due_.
    Clock::Time series_due{};   // With `series_waits`.
    Clock::Duration series_every = kSeriesFirst;
    bool usage_waits = false;  // For its turn in usage_due_.
  };
  struct UsageAnswer {
    std::vector<HistorySource::JobPtr> left;  // Not written yet.
    double at = 0;
    std::map<std::string, ReplicaUse> used;
  };

  void OnOpened(std::vector<HistoryOpen> jobs);
  void Tick();
  void Reconcile();
  void LookSoon(const std::string& key);
  void LookAtSome();
  void Look(const WatchedJob& job);
  HistorySource::JobPtr Share(const WatchedJob& job) const;
  void Record(const WatchedJob& job, const Pods& pods, Known* known);
  void Settle();
  void WantManifest(const WatchedJob& job, Known* known);
  void OnManifest(const std::string& uid, bool last, const absl::StatusOr<HttpReply>& reply);
  void WantTails(const WatchedJob& job, const Pods& pods, bool all, Known* known);
  // False: too many calls wait.
  bool FetchTails(const HistorySource::JobPtr& job, const Pods& pods);
  void OnTails(const WatchedJob& job, const Pods& pods, std::vector<HistoryTail> tails);
  void WantSeries(const WatchedJob& job, const Pods& pods, Known* known);
  // Until its curves are asked for again: half of what is left, and `every` at most.
  static Clock::Duration SeriesDelay(const WatchedJob& job, Clock::Duration every);
  void AskSeries();
  void WantUsage(const WatchedJob& job, const Pods& pods, Known* known);
  void AskUsage();
  std::vector<HistorySource::JobPtr> TakeUsageDue();
  void KeepSomeUsage();
  void KeepUsage(const WatchedJob& job);
  void KeepLastPoints(const WatchedJob& job);
  void FetchFiles(const HistorySource::JobPtr& job, const Pods& pods);
  void FetchSeries(const HistorySource::JobPtr& job, Pods pods);
  void FetchCheckpoints(const HistorySource::JobPtr& job, const Pods& pods);

  Executor& executor_;
  HistoryStore& store_;
  KubeTransport& own_;
  const HistorySource source_;
  std::optional<std::vector<HistoryOpen>> from_file_;  // Until it was held against the cluster.
  bool ready_ = false;
  std::map<std::string, Known> known_;  // By uid: jobs that exist.
  std::set<std::string> to_look_;  // Keys.
  bool looking_ = false;           // A task for them is posted.
  std::set<std::pair<Clock::Time, std::string>> settling_;  // Due, uid.
  std::set<std::pair<Clock::Time, std::string>> series_due_;
  std::set<std::pair<Clock::Time, std::string>> usage_due_;
  bool usage_asked_ = false;  // The answer has not come.
  Clock::Time usage_from_{};  // Before then nobody is asked.
  UsageAnswer usage_;
  Clock::Time manifests_from_{};  // Before then none is asked for: they are refused.
  bool refused_logged_ = false;
  HistoryCalls manifest_calls_, series_calls_, tail_calls_;
  Executor::TimerId tick_timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_HISTORY_HISTORY_RECORDER_H_
