// Binds pods to the node when they fit, and says in their status why they do not.
//
// Ownership: owns its thread; api, store and clock outlive it. Threads: Start and the destructor
// from one thread, not its own. Errors: logged; every change of a pod is a new attempt.
//
//   Scheduler scheduler(capacity, api, store, clock);
//   scheduler.Start();

#ifndef LOCALKUBE_NODE_SCHEDULER_H_
#define LOCALKUBE_NODE_SCHEDULER_H_

#include <map>
#include <memory>
#include <string>

#include "localkube/api/api.h"
#include "localkube/api/store.h"
#include "localkube/node/api_calls.h"
#include "localkube/node/schedule.h"
#include "operator/base/clock.h"
#include "operator/base/thread_executor.h"

namespace taas::localkube {

class Scheduler {
 public:
  Scheduler(NodeCapacity capacity, Api& api, Store& store, const Clock& clock);
  ~Scheduler();
  void Start();

 private:
  struct Entry {
    PodToPlace pod;
    std::string ns;
    std::string name;
    StoreText text;  // Of pods without a node; null for the others.
  };

  void Follow();
  void OnEvent(const StoreEvent& event);
  Entry ReadEntry(const StoreEvent& event) const;
  void RunSoon();
  void Run();
  absl::Status Bind(const Entry& entry);
  absl::Status Refuse(const Entry& entry, const std::string& message);

  const NodeCapacity capacity_;
  ApiCalls api_;
  Store& store_;
  const Clock& clock_;
  std::map<std::string, Entry> pods_;  // By namespace/name.
  bool listing_ = true;
  bool run_posted_ = false;
  ThreadExecutor executor_;
  std::unique_ptr<StoreWatch> watch_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_SCHEDULER_H_
