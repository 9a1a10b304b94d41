// Binds pods to nodes that have room for them, says in their status why there is none, and takes
// them off nodes with a NoExecute taint that they do not tolerate.
//
// Ownership: owns its thread; api, store and clock outlive it. Threads: Start and the destructor
// from one thread, not its own. Errors: logged; every change of a pod or node is a new attempt.
//
//   Scheduler scheduler(api, store, clock);
//   scheduler.Start();

#ifndef LOCALKUBE_NODE_SCHEDULER_H_
#define LOCALKUBE_NODE_SCHEDULER_H_

#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "localkube/api/api.h"
#include "localkube/api/store.h"
#include "localkube/node/api_calls.h"
#include "localkube/node/object_watch.h"
#include "localkube/node/pod_events.h"
#include "localkube/node/schedule.h"
#include "operator/base/clock.h"
#include "operator/base/thread_executor.h"

namespace taas::localkube {

class Scheduler {
 public:
  Scheduler(Api& api, Store& store, const Clock& clock);
  ~Scheduler();
  void Start();

 private:
  struct Entry {
    PodToPlace pod;
    std::string ns;
    std::string name;
    bool deleting = false;
    StoreText text;
    // Since when a taint of its node has wanted it gone.
    std::optional<Clock::WallTime> tainted_since;
  };

  void OnPod(const StoreEvent& event);
  void OnNode(const StoreEvent& event);
  Entry ReadEntry(const StoreEvent& event) const;
  void RunSoon();
  void Run();
  void Place();
  bool Carry(const Placement& placement, Entry* entry);
  absl::Status Bind(const Entry& entry, const std::string& node);
  absl::Status Refuse(const Entry& entry, const std::string& message);
  void EvictTainted();
  absl::Status Evict(const Entry& entry);
  absl::Status WriteCondition(const Entry& entry, const nlohmann::json& condition, bool* changed);

  ApiCalls api_;
  const Clock& clock_;
  PodEvents events_;
  PodEvents taint_events_;
  std::map<std::string, Entry> pods_;       // By namespace/name.
  std::map<std::string, NodeState> nodes_;  // By name.
  std::set<std::string> listing_ = {"pods", "nodes"};  // What has not been heard of in full yet.
  bool run_posted_ = false;
  Executor::TimerId timer_ = 0;
  ThreadExecutor executor_;
  ObjectWatch pod_watch_;
  ObjectWatch node_watch_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_SCHEDULER_H_
