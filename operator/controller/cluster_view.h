// What the controller knows of the cluster: jobs of both kinds, their pods, their services, and
// pods that are gone.
//
// Fed by reflectors and by the replies of our own writes. A pod that vanishes leaves its last known
// state behind until the job's ledger has counted it, so that no end of a pod is missed and none is
// counted twice.
//
// A kind whose CRD is not installed has no jobs, and that is all; it is looked for again from time
// to time. A job whose manifest is edited into something that cannot be read, or that its kind's
// rules refuse, keeps its last good spec.
//
// Ownership: transport, executor and random must outlive it; destroying it ends the watches.
// Threads: the executor's only. Errors: none; reflectors try again for ever.
//
//   ClusterView view(transport, executor, random, {},
//                    [&](const std::string& key, ClusterView::Haste) { queue.Add(key); });
//   view.Start();

#ifndef OPERATOR_CONTROLLER_CLUSTER_VIEW_H_
#define OPERATOR_CONTROLLER_CLUSTER_VIEW_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "operator/api/job.h"
#include "operator/api/pod.h"
#include "operator/base/executor.h"
#include "operator/base/random.h"
#include "operator/kube/api_path.h"
#include "operator/kube/pod_decoder.h"
#include "operator/kube/reflector.h"
#include "operator/kube/store.h"
#include "operator/kube/transport.h"

namespace taas {

// Where jobs of `kind` are stored.
Resource ResourceOf(JobKind kind);

class ClusterView {
 public:
  // Of a change: whether the like of it soon happens to others of the job's replicas, so that a
  // moment's wait saves looks and writes.
  enum class Haste { kAtOnce, kWithItsLike };
  // The key of a job that something happened to.
  using OnChange = std::function<void(const std::string& key, Haste haste)>;
  // A job that cannot be read and never could, and why: all of it but for the spec.
  using OnUnreadable = std::function<void(const Job& job, const std::string& why)>;
  // A pod of a job that is no more.
  using OnOrphan = std::function<void(const Pod& pod)>;

  struct Options {
    std::vector<std::string> namespaces;  // Empty: all of them.
    std::vector<JobKind> kinds = {JobKind::kTrainingJob, JobKind::kTfJob};
    // Of the gang scheduler; nothing: it has none.
    std::optional<Resource> pod_groups;
  };

  ClusterView(KubeTransport& transport, Executor& executor, Random& random, Options options,
              OnChange on_change);
  ~ClusterView();

  void set_on_unreadable(OnUnreadable call) { on_unreadable_ = std::move(call); }
  void set_on_orphan(OnOrphan call) { on_orphan_ = std::move(call); }
  void Start();
  // True from the moment on when jobs, pods and services have all been listed; what pods there are
  // is unknown before.
  bool synced() const { return synced_; }

  // "trainingjob/NAMESPACE/NAME", "tfjob/NAMESPACE/NAME"
  static std::string KeyOf(JobKind kind, const ObjectMeta& job);
  static std::string KeyOf(const Job& job) { return KeyOf(job.kind, job.meta); }
  std::shared_ptr<const Job> FindJob(const std::string& key) const;
  std::vector<std::shared_ptr<const Job>> Jobs() const;
  // What is wrong with the job's present spec, so that an earlier one goes on; empty: nothing.
  std::string FlawOf(const Job& job) const;
  // By job label, whoever owns them.
  std::vector<std::shared_ptr<const Pod>> PodsOf(const Job& job) const;
  std::vector<std::shared_ptr<const OwnedObject>> ServicesOf(const Job& job) const;

  // From now on pods that appear and that a leader before `epoch` made are late.
  void Lead(int64_t epoch);
  bool IsLate(const Pod& pod) const { return late_.count(pod.meta.uid) > 0; }
  // Since when this view has shown that the pod is being deleted; nothing: it is not.
  std::optional<Clock::Duration> DeletingFor(const Pod& pod) const;
  // Of all pods and services, whoever owns them; 0: none has one.
  int64_t HighestEpoch() const;
  // The one with the job's name and label, whoever owns it; null: there is none.
  std::shared_ptr<const PodGroup> PodGroupOf(const Job& job) const;
  // Pods of the job `uid` that are gone and not yet forgotten.
  std::vector<Pod> GoneOf(const std::string& uid) const;
  // Drops those that the job's ledger has counted.
  void ForgetCounted(const Job& job);
  void ForgetJob(const std::string& uid) { gone_.erase(uid); }

  // Replies of our own writes. InvalidArgument: the job cannot be read.
  absl::Status ObserveJob(JobKind kind, std::string_view json);
  void Observe(Pod pod);
  void Observe(OwnedObject service);
  void Observe(PodGroup group);
  void ObserveGone(Resource resource, const std::string& ns, const std::string& name,
                   const std::string& uid);

 private:
  // Of one version of a job: the watch may show an earlier one after it.
  struct Flaw {
    std::string version;
    std::string text;
  };
  struct JobsOfKind;
  struct Scope;

  Scope* ScopeOf(const std::string& ns) const;
  std::unique_ptr<Scope> MakeScope(const std::string& ns);
  std::unique_ptr<JobsOfKind> MakeJobs(JobKind kind, const std::string& ns);
  const Store<Job>* JobsIn(JobKind kind, const std::string& ns) const;
  absl::StatusOr<Job> Decode(JobKind kind, std::string_view json);
  void OnUndecodable(JobKind kind, std::string_view json, const absl::Status& why);
  void OnJob(const std::shared_ptr<const Job>& before, const std::shared_ptr<const Job>& after);
  void OnPod(const std::shared_ptr<const Pod>& before, const std::shared_ptr<const Pod>& after);
  void OnSynced();
  bool HasOwner(const Pod& pod) const;
  bool IsOrphan(const Pod& pod) const;
  void TellOrphans();
  // Tells of every job that goes by the name that a pod's or a service's label says.
  void Touch(const std::string& ns, const std::string& job, Haste haste = Haste::kAtOnce);
  template <typename Object>
  void TouchFormer(const Object& before, const Object& after);

  KubeTransport& transport_;
  Executor& executor_;
  Random& random_;
  const Options options_;
  const OnChange on_change_;
  OnUnreadable on_unreadable_;
  OnOrphan on_orphan_ = [](const Pod&) {};
  std::map<std::string, std::unique_ptr<Scope>> scopes_;  // By namespace; "": all.
  std::map<std::string, std::vector<Pod>> gone_;          // By uid of the job.
  std::map<std::string, Flaw> flaws_;                     // By key.
  int64_t epoch_ = 0;
  std::set<std::string> late_;  // Uids of pods that exist.
  // By uid, of pods that exist: when their deletion was seen first.
  std::map<std::string, Clock::Time> deleting_since_;
  bool synced_ = false;
};

}  // namespace taas

#endif  // OPERATOR_CONTROLLER_CLUSTER_VIEW_H_
