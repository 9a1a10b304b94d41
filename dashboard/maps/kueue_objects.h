// Kueue's queues and workloads, as far as the page of queues shows them: v1beta1 and v1beta2.
//
// Reading is lenient: of an object that is not as its schema says, what can be read is shown.
// Amounts are in thousandths, as quantity.h has them; one that is none is not known.
//
// Ownership: values. Threads: any. Errors: InvalidArgument only for a text that is no object with a
// name.
//
//   ASSIGN_OR_RETURN(const KueueWorkload workload, ReadWorkload(json, "nvidia.com/gpu"));

#ifndef DASHBOARD_MAPS_KUEUE_OBJECTS_H_
#define DASHBOARD_MAPS_KUEUE_OBJECTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/api/job.h"

namespace taas::dashboard {

// What a queue has and uses of one resource in one flavor.
struct KueueQuota {
  std::string resource;
  std::string flavor;
  std::optional<int64_t> nominal;
  std::optional<int64_t> borrowing_limit;
  std::optional<int64_t> used;      // Reserved: it is nobody else's any more.
  std::optional<int64_t> borrowed;  // Of what is used.
};

// A ClusterQueue or a LocalQueue.
struct KueueQueue {
  ObjectMeta meta;
  std::string cohort;         // Of a ClusterQueue.
  std::string strategy;       // Of a ClusterQueue: BestEffortFIFO, StrictFIFO.
  std::string cluster_queue;  // Of a LocalQueue.
  bool stopped = false;
  std::string inactive;  // Why nothing is admitted; empty: it is active.
  int32_t admitted = 0;  // Workloads that run.
  std::vector<KueueQuota> quotas;
};

struct KueueOwner {
  std::string kind, name, uid;
  bool controller = false;
};

struct KueueWorkload {
  // In this order it gets on; a finished one is of no interest.
  enum class State {
    kInactive,  // Somebody, or Kueue itself, has taken it out.
    kWaiting,   // For quota.
    kReserved,  // It has quota and waits for admission checks.
    kAdmitted,
    kFinished,
  };

  ObjectMeta meta;
  std::string queue;          // A LocalQueue of its namespace.
  std::string cluster_queue;  // Where it has quota; empty: nowhere.
  State state = State::kWaiting;
  int64_t priority = 0;
  int64_t gpus = 0;
  std::string reason;  // Why it waits, in Kueue's words.
  // Since when it has its place in the order: its creation, or when it came back into the queue.
  Clock::WallTime queued{};
  std::vector<KueueOwner> owners;
};

struct KueueObjects {
  std::vector<std::shared_ptr<const KueueQueue>> cluster_queues;
  std::vector<std::shared_ptr<const KueueQueue>> local_queues;
  std::vector<std::shared_ptr<const KueueWorkload>> workloads;
};

absl::StatusOr<KueueQueue> ReadClusterQueue(std::string_view json);
absl::StatusOr<KueueQueue> ReadLocalQueue(std::string_view json);
// `gpu_resource`: "nvidia.com/gpu".
absl::StatusOr<KueueWorkload> ReadWorkload(std::string_view json, const std::string& gpu_resource);

}  // namespace taas::dashboard

#endif  // DASHBOARD_MAPS_KUEUE_OBJECTS_H_
