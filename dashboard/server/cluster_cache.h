// One copy of what all pages show, kept equal to the cluster under the dashboard's own account.
//
// Ownership: transport, executor and random outlive it; objects are shared and immutable. Threads:
// the executor's only. Errors: none; reflectors try again for ever, and `state` says since when the
// API server has not answered.
//
//   ClusterCache cache(transport, executor, random, {}, {.job = [](const std::string& key) { … }});
//   cache.Start();

#ifndef DASHBOARD_SERVER_CLUSTER_CACHE_H_
#define DASHBOARD_SERVER_CLUSTER_CACHE_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dashboard/server/watched.h"
#include "operator/base/executor.h"
#include "operator/base/random.h"
#include "operator/kube/reflector.h"
#include "operator/kube/store.h"
#include "operator/kube/transport.h"

namespace taas::dashboard {

class ClusterCache {
 public:
  struct Options {
    std::vector<std::string> namespaces;  // Empty: all of them.
    std::vector<JobKind> kinds = {JobKind::kTrainingJob, JobKind::kTfJob};
    std::string gpu_resource = "nvidia.com/gpu";
    bool nodes = true;  // Whether the account may see nodes.
  };
  struct Calls {
    // The job, or a pod or an event of it, has changed; a key of JobKey.
    std::function<void(const std::string& key)> job;
    // A job is no more: its last state.
    std::function<void(const std::shared_ptr<const WatchedJob>& job)> job_gone;
    // Nodes, or pods that hold GPUs, have changed.
    std::function<void()> gpus;
  };
  using JobPtr = std::shared_ptr<const WatchedJob>;
  using PodPtr = std::shared_ptr<const WatchedPod>;
  using NodePtr = std::shared_ptr<const WatchedNode>;
  using EventPtr = std::shared_ptr<const WatchedEvent>;

  ClusterCache(KubeTransport& transport, Executor& executor, Random& random, Options options,
               Calls calls);
  ~ClusterCache();

  void Start();
  // True once everything has been listed.
  bool synced() const;

  JobPtr FindJob(const std::string& key) const;
  std::vector<JobPtr> Jobs() const;
  // Those of this job's uid, or of its name where a pod says no owner.
  std::vector<PodPtr> PodsOf(const WatchedJob& job) const;
  PodPtr FindPod(const std::string& ns, const std::string& name) const;
  // That hold GPUs or wait for some.
  std::vector<PodPtr> GpuPods() const;
  std::vector<NodePtr> Nodes() const;
  // About the job, and warnings about its pods; oldest first. What is about none that is there is
  // let go after a minute at most, though the API server keeps it for an hour.
  std::vector<EventPtr> EventsOf(const WatchedJob& job, const std::vector<PodPtr>& pods) const;
  // All that are kept.
  size_t EventCount() const;
  // Of kinds that the cluster has.
  std::vector<JobKind> Kinds() const { return options_.kinds; }
  const Options& options() const { return options_; }

 private:
  struct Scope;

  std::unique_ptr<Scope> MakeScope(const std::string& ns);
  void MakeJobs(JobKind kind, const std::string& ns, Scope* scope);
  void MakeEvents(const std::string& ns, Scope* scope);
  Scope* ScopeOf(const std::string& ns) const;
  void TouchByName(const std::string& ns, const std::string& job);
  void OnPod(const PodPtr& before, const PodPtr& after);
  void OnEvent(const EventPtr& event);
  bool IsStray(const Scope& scope, const WatchedEvent& event) const;
  void DropStraysLater();
  void DropStrays();

  KubeTransport& transport_;
  Executor& executor_;
  Random& random_;
  const Options options_;
  const Calls calls_;
  std::map<std::string, std::unique_ptr<Scope>> scopes_;  // By namespace; "": all.
  std::set<std::string> strays_;           // Events that were strays at the last look, by key.
  Executor::TimerId next_look_ = 0;        // At strays; 0: none is due.
  Store<WatchedNode> nodes_;
  std::unique_ptr<Reflector<WatchedNode>> node_reflector_;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_CLUSTER_CACHE_H_
