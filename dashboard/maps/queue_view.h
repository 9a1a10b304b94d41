// What each queue uses and who waits in it: a QueueList of dashboard/web.
//
// Where the cluster has Kueue these are its queues, in the order in which Kueue takes workloads: by
// priority, then as they came. Elsewhere, and for jobs that are in no queue of it, the schedulers
// take pods as they were created and pass over those that do not fit: the order is told as that and
// is no promise. A position counts everybody who is before one, also those one may not see.
//
// Pure. Ownership: values. Threads: const access from any thread. Errors: none; texts are cut to
// what a page can show.
//
//   const QueueTable table({.resource = "nvidia.com/gpu", .nodes = cache.Nodes(), …});
//   respond(table.TextFor(*sight, queue_sight));

#ifndef DASHBOARD_MAPS_QUEUE_VIEW_H_
#define DASHBOARD_MAPS_QUEUE_VIEW_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dashboard/maps/kueue_objects.h"
#include "dashboard/maps/queue_sight.h"
#include "dashboard/server/sight.h"
#include "dashboard/server/watched.h"

namespace taas::dashboard {

// A job that waits for a place, with what it waits for.
struct WaitingJob {
  std::shared_ptr<const WatchedJob> job;
  int64_t gpus = 0;
  Clock::WallTime since{};
  std::string reason;  // In the words of the operator or of the scheduler.
};
// Nothing: it does not wait, or only for its containers to start.
std::optional<WaitingJob> WaitingOf(const std::shared_ptr<const WatchedJob>& job,
                                    const std::vector<std::shared_ptr<const WatchedPod>>& pods);

struct QueueFacts {
  std::string resource;
  // False: the dashboard itself may not see nodes.
  bool nodes_known = true;
  std::vector<std::shared_ptr<const WatchedNode>> nodes;
  std::vector<std::shared_ptr<const WatchedPod>> pods;  // With GPUs.
  std::vector<WaitingJob> waiting;
  std::optional<KueueObjects> kueue;  // Nothing: the cluster has no Kueue.
  // Whose workload it is; null: of nobody we know.
  std::function<std::shared_ptr<const WatchedJob>(const KueueWorkload& workload)> job_of;
};

class QueueTable {
 public:
  // Of one queue: nobody reads on, and the page says how many more there are.
  static constexpr size_t kShownMax = 1'000;
  // Of why one waits: a sentence or two.
  static constexpr size_t kReasonShownMax = 1'024;

  explicit QueueTable(const QueueFacts& facts);

  // A QueueList in JSON.
  std::string TextFor(const Sight& sight, const QueueSight& queue_sight) const;

 private:
  class Maker;
  struct Entry {
    std::string ns;
    std::string head;      // JSON without the closing brace.
    std::string workload;  // Members for those who may see workloads.
    std::string job;       // Members for those who may see the job.
    std::optional<JobKind> kind;
  };
  struct Queue {
    std::string ns;     // Of a LocalQueue.
    std::string name;   // JSON without the closing brace.
    std::string about;  // Members for those who may see the queue.
    std::vector<const Entry*> entries;
  };
  // GPUs of one product.
  struct Pool {
    int64_t allocatable = 0;
    int64_t held = 0;
  };
  struct Held {
    std::string ns;
    int64_t gpus = 0;
  };

  bool Sees(const Entry& entry, const Sight& sight, const QueueSight& queue_sight) const;
  void AppendEntry(const Entry& entry, const Sight& sight, const QueueSight& queue_sight,
                   std::string* out) const;
  // Nothing where `full` is false and none of its entries is in sight.
  void AppendQueue(const Queue& queue, bool full, const Sight& sight,
                   const QueueSight& queue_sight, std::string* out) const;
  std::string Usage(const Sight& sight) const;

  std::string resource_;
  bool nodes_known_ = true;
  bool has_kueue_ = false;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<Queue> cluster_queues_, local_queues_;
  Queue in_order_;  // Of creation: those that are in no queue.
  std::map<std::string, Pool> pools_;  // By product.
  std::vector<Held> held_;
  std::map<std::string, int64_t> holding_;  // Jobs that hold some, by namespace.
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_MAPS_QUEUE_VIEW_H_
