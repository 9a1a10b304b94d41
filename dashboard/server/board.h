// What all tabs look at: the cache, the rows made of it, and who is told when something changes.
//
// Changes are gathered for a moment, so that a job of a thousand pods that starts is one change and
// not a thousand, and what many tabs get is made once.
//
// Ownership: transport, executor and random outlive it; listeners take themselves off before they
// go. Threads: the executor's only. Errors: none.
//
//   Board board(transport, executor, random, {});
//   board.Start();
//   board.Add(&tab);

#ifndef DASHBOARD_SERVER_BOARD_H_
#define DASHBOARD_SERVER_BOARD_H_

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dashboard/server/cluster_cache.h"
#include "dashboard/server/cluster_watch.h"
#include "dashboard/server/job_view.h"
#include "dashboard/server/row_table.h"
#include "dashboard/server/sight.h"
#include "dashboard/http/web_message.h"
#include "operator/base/executor.h"
#include "operator/base/random.h"

namespace taas::dashboard {

// Of a job's detail: what the one who asks may do with it.
struct JobRights {
  bool update = false, remove = false, create = false, logs = false, events = false;
  bool operator==(const JobRights&) const = default;
};

class Board {
 public:
  // A person does not see the difference, and a burst of changes becomes one.
  static constexpr std::chrono::milliseconds kGather{100};
  // Health depends on time too ("pending for long"), so all jobs that go on are looked at again.
  static constexpr std::chrono::seconds kReviewEvery{5};

  struct Changes {
    bool rows = false;
    std::set<std::string> jobs;  // Keys.
    bool gpus = false;
    bool cluster = false;
  };
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void OnChanges(const Changes& changes) = 0;
  };
  // Jobs come and go; for whoever keeps their history.
  struct Witness {
    std::function<void(const WatchedJob& job)> changed;
    std::function<void(const WatchedJob& job)> gone;
  };

  Board(KubeTransport& transport, Executor& executor, Random& random,
        ClusterCache::Options options, Witness witness = {});
  ~Board();

  void Start();
  void Add(Listener* listener) { listeners_.insert(listener); }
  void Remove(Listener* listener) { listeners_.erase(listener); }
  size_t listeners() const { return listeners_.size(); }

  const ClusterCache& cache() const { return *cache_; }
  const RowTable& rows() const { return rows_; }
  bool synced() const { return synced_; }
  // What is not in the cache but on the maps has changed: Kueue's queues, readings of GPUs.
  void NoteMaps();
  // What was found of a training's curve; it counts while the job runs.
  void NoteLoss(const WatchedJob& job, bool rises);
  // Where there are jobs.
  std::set<std::string> Namespaces() const;
  // Whether the API server answers.
  bool connected() const { return watch_.state().connected; }
  // A ClusterState of dashboard/web.
  std::string ClusterStateNow() const;

  // As RowTable::Since, made once for all who ask for the same.
  SharedText JobsEvent(uint64_t number, const SightPtr& sight);
  // A JobDetail; "null": there is none, or it is out of sight.
  SharedText DetailEvent(const std::string& key, const Sight& sight, const JobRights& rights);
  JobToJudge Judge(const WatchedJob& job,
                   const std::vector<ClusterCache::PodPtr>& pods) const;

 private:
  struct Step {
    int64_t step = 0;
    Clock::WallTime since{};
  };

  void OnJob(const std::string& key);
  void OnJobGone(const ClusterCache::JobPtr& job);
  void Gather();
  void Flush();
  void Look(const std::string& key);
  void Review();
  std::optional<Clock::WallTime> StepSince(const WatchedJob& job) const;

  Executor& executor_;
  const Witness witness_;
  RowTable rows_;
  std::unique_ptr<ClusterCache> cache_;
  ClusterWatch watch_;
  bool synced_ = false;
  Changes pending_;
  Executor::TimerId flush_timer_ = 0;
  Executor::TimerId review_timer_ = 0;
  std::map<std::string, Step> steps_;  // By uid.
  std::set<std::string> loss_rises_;   // Uids.
  std::set<Listener*> listeners_;

  struct MadeRows {
    uint64_t number = 0;
    SightPtr sight;
    SharedText text;
  };
  struct MadeDetail {
    std::string key;
    bool pods = false;
    JobRights rights;
    SharedText text;
  };
  std::vector<MadeRows> made_rows_;  // Since the last flush.
  std::vector<MadeDetail> made_details_;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_BOARD_H_
