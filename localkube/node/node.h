// The nodes of the local cluster: makes pods that are bound to them run, and says how they do.
//
// One machine and one thread play all nodes; they differ in name, labels, taints and GPU slots. A
// pod that is bound to no node of ours is taken away, as Kubernetes' pod garbage collector does.
//
// Level-triggered: whatever happened, Sync looks at the pod object and at the pod's runs on disk,
// lets the pure PlanPod decide, and carries it out. All it must remember is on disk, so a node that
// was killed is replaced by a new one that finds the pods where they are.
//
// Ownership: owns its thread; all that is given at construction outlives it. Pods outlive the node.
// Threads: Start and the destructor from one thread, not the node's own. Errors: of Start; later
// ones are logged and tried again.
//
//   Node node(options, api, store, usage, disk, clock);
//   RETURN_IF_ERROR(node.Start());

#ifndef LOCALKUBE_NODE_NODE_H_
#define LOCALKUBE_NODE_NODE_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "localkube/api/api.h"
#include "localkube/api/store.h"
#include "localkube/node/api_calls.h"
#include "localkube/node/object_watch.h"
#include "localkube/node/pod_dirs.h"
#include "localkube/node/pod_events.h"
#include "localkube/node/pod_plan.h"
#include "localkube/node/run_preparer.h"
#include "localkube/node/run_watcher.h"
#include "localkube/node/schedule.h"
#include "localkube/node/usage_sampler.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/thread_executor.h"

namespace taas::localkube {

class Node {
 public:
  struct Options {
    std::vector<NodeCapacity> nodes;
    std::string pods_dir;
    std::string volumes_dir;
    std::map<std::string, std::string> volume_bindings;
    std::string trainer_path;  // What the bundled trainer's image means.
    std::string shim_path;     // A program whose verb `shim` is RunShim.
    std::vector<std::pair<std::string, std::string>> base_env;
    bool sandbox = true;     // Whether SandboxWorks.
    bool real_gpus = false;  // Those of `nodes` are this machine's, not simulated.
    std::string owner_lock;  // Not empty: runs end with the holder of this lock.
  };
  // `usage` is told which containers run.
  Node(Options options, Api& api, Store& store, UsageSampler& usage, FileSystem& disk,
       const Clock& clock);
  ~Node();

  // Writes the node objects, then follows the pods.
  absl::Status Start();

 private:
  struct Entry {
    std::string ns;
    std::string name;
    std::string node;
    StoreText text;     // The latest object; null once it is gone.
    std::vector<int> gpus;
    bool gpus_known = false;
    bool admitted = false;  // The node has room for it and has taken it.
    Resources requests;     // Of one that was.
    bool ended = false;  // Its GPU slots are free.
    // Since when nothing of a pod whose object is gone runs any more.
    std::optional<Clock::Time> idle_since;
    std::optional<Clock::WallTime> stop_by;
    std::map<std::string, Clock::Time> launched;  // Shims that may not have claimed their run yet.
    std::map<std::string, StartProblem> problems;  // By container, until it is started.
    Executor::TimerId timer = 0;
  };

  const NodeCapacity* FindNode(const std::string& name) const;
  void OnEvent(const StoreEvent& event);
  void OnObject(StoreEventType type, const StoreText& text);
  absl::Status CollectLost(const nlohmann::json& pod);
  void OnInitialEnd();
  void Poll();
  void SyncLater(const std::string& uid, Clock::Duration delay);
  void Sync(const std::string& uid);
  absl::Status TrySync(const std::string& uid, Entry* entry);
  absl::StatusOr<PodPlan> PlanNow(const std::string& uid, const nlohmann::json& pod,
                                  const Entry& entry);
  absl::Status StopRun(const std::string& uid, const nlohmann::json& pod,
                       const StopContainer& stop, const Entry& entry);
  absl::Status LaunchRun(const std::string& uid, const nlohmann::json& pod,
                         const StartContainer& start, Entry* entry);
  std::string GpusPath(const std::string& uid) const;
  void LoadGpus(const std::string& uid, Entry* entry);
  void LoadAdmission(const std::string& uid, Entry* entry);
  absl::StatusOr<bool> AdmitPod(const nlohmann::json& pod, Entry* entry);
  absl::Status AssignGpus(const std::string& uid, const nlohmann::json& pod, Entry* entry);
  absl::Status WriteStatus(const nlohmann::json& pod, const std::string& status,
                           const Entry& entry);
  absl::Status EndOrphan(const std::string& uid, Entry* entry, bool* gone);
  absl::StatusOr<bool> StopRuns(const std::string& uid);

  const Options options_;
  ApiCalls api_;
  PodEvents events_;
  UsageSampler& usage_;
  FileSystem& disk_;
  const Clock& clock_;
  const PodDirs dirs_;
  RunPreparer preparer_;
  std::map<std::string, Entry> pods_;  // By uid.
  std::set<std::string> listed_;       // Seen since the watch began, until its initial end.
  bool listing_ = true;
  ThreadExecutor executor_;
  std::unique_ptr<RunWatcher> watcher_;
  ObjectWatch watch_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_NODE_H_
