// What the controller knows of the cluster: jobs, their pods, their services, and pods that are
// gone.
//
// Fed by reflectors and by the replies of our own writes. A pod that vanishes leaves its last known
// state behind until the job's ledger has counted it, so that no end of a pod is missed and none is
// counted twice.
//
// Ownership: transport, executor and random must outlive it; destroying it ends the watches.
// Threads: the executor's only. Errors: none; reflectors try again for ever.
//
//   ClusterView view(transport, executor, random, {}, [&](const auto& key) { queue.Add(key); });
//   view.Start();

#ifndef OPERATOR_CONTROLLER_CLUSTER_VIEW_H_
#define OPERATOR_CONTROLLER_CLUSTER_VIEW_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "operator/api/job.h"
#include "operator/api/pod.h"
#include "operator/base/executor.h"
#include "operator/base/random.h"
#include "operator/kube/pod_decoder.h"
#include "operator/kube/reflector.h"
#include "operator/kube/store.h"
#include "operator/kube/transport.h"

namespace taas {

class ClusterView {
 public:
  // "namespace/name" of a job that something happened to.
  using OnChange = std::function<void(const std::string& key)>;
  // A job that cannot be read, and why.
  using OnUnreadable = std::function<void(const ObjectMeta& job, const std::string& why)>;

  // Empty `namespaces`: all of them.
  ClusterView(KubeTransport& transport, Executor& executor, Random& random,
              std::vector<std::string> namespaces, OnChange on_change);
  ~ClusterView();

  void set_on_unreadable(OnUnreadable call) { on_unreadable_ = std::move(call); }
  void Start();
  // True from the moment on when jobs, pods and services have all been listed; what pods there are
  // is unknown before.
  bool synced() const { return synced_; }

  static std::string KeyOf(const ObjectMeta& job) { return job.ns + "/" + job.name; }
  std::shared_ptr<const Job> FindJob(const std::string& key) const;
  std::vector<std::string> JobKeys() const;
  // By job label, whoever owns them.
  std::vector<std::shared_ptr<const Pod>> PodsOf(const std::string& key) const;
  std::shared_ptr<const OwnedObject> FindService(const std::string& key) const;
  // Pods of the job `uid` that are gone and not yet forgotten.
  std::vector<Pod> GoneOf(const std::string& uid) const;
  // Drops those that `ledger` has counted.
  void ForgetCounted(const std::string& uid, const Ledger& ledger);
  void ForgetJob(const std::string& uid) { gone_.erase(uid); }

  // Replies of our own writes.
  void Observe(Job job);
  void Observe(Pod pod);
  void Observe(OwnedObject service);
  void ObserveGone(const Pod& pod);

 private:
  struct Scope;

  Scope* ScopeOf(const std::string& ns) const;
  std::unique_ptr<Scope> MakeScope(const std::string& ns);
  void OnJob(const std::shared_ptr<const Job>& before, const std::shared_ptr<const Job>& after);
  void OnPod(const std::shared_ptr<const Pod>& before, const std::shared_ptr<const Pod>& after);
  void OnSynced();

  KubeTransport& transport_;
  Executor& executor_;
  Random& random_;
  const OnChange on_change_;
  OnUnreadable on_unreadable_;
  std::map<std::string, std::unique_ptr<Scope>> scopes_;  // By namespace; "": all.
  std::map<std::string, std::vector<Pod>> gone_;          // By uid of the job.
  bool synced_ = false;
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_CLUSTER_VIEW_H_
