#include "operator/plan/pods.h"

#include <algorithm>
#include <utility>

#include "operator/api/defaults.h"
#include "operator/api/dialect.h"
#include "operator/base/hash.h"
#include "operator/plan/bad_nodes.h"
#include "operator/plan/budget.h"
#include "operator/plan/cluster_map.h"
#include "operator/plan/deadlines.h"
#include "operator/plan/exit_codes.h"
#include "operator/plan/finish.h"
#include "operator/plan/gang.h"
#include "operator/plan/node_loss.h"
#include "operator/plan/pod_group.h"
#include "operator/plan/replicas.h"
#include "operator/plan/role_pod.h"
#include "operator/plan/services.h"
#include "operator/plan/template_mark.h"
#include "operator/plan/tfjob_text.h"

namespace taas {
namespace {

// A node must not start a container again by itself where all replicas start together, nor where
// one more failure ends the job: of a pod that has failed the log can be read.
std::string PodRestartPolicy(const Job& job, const Ledger& ledger, const ReplicaView& replica) {
  const RestartPolicy policy = job.spec.roles.at(replica.role).restart_policy;
  const bool by_node = policy == RestartPolicy::kAlways || policy == RestartPolicy::kOnFailure;
  const bool in_place = by_node && job.spec.restart_scope == RestartScope::kReplica &&
                        !IsLastTry(job, ledger, replica.role, replica.index);
  return std::string(RestartPolicyName(in_place ? policy : RestartPolicy::kNever));
}

std::map<std::string, std::string> LabelsOf(const Snapshot& snapshot, const Ledger& ledger,
                                            const ReplicaView& replica, int32_t pod_number) {
  const Job& job = snapshot.job;
  std::map<std::string, std::string> labels =
      ForeignLabels(job, replica.role, replica.index, snapshot.legacy_labels);
  labels.merge(OwnedBy(job, replica.name).labels);
  labels.insert({{std::string(kRoleLabel), std::string(RoleName(replica.role))},
                 {std::string(kIndexLabel), std::to_string(replica.index)},
                 {std::string(kAttemptLabel), std::to_string(ledger.attempt)},
                 {std::string(kPodNumberLabel), std::to_string(pod_number)}});
  return labels;
}

PodSpec MakePod(const Snapshot& snapshot, const Ledger& ledger, const ReplicaView& replica,
                const AddressBook& addresses, const std::string& bootstrap,
                std::shared_ptr<const ClusterFacts> cluster) {
  const Job& job = snapshot.job;
  const Dialect& dialect = DialectOf(job.kind);
  const LedgerReplica* known = FindReplica(ledger, replica.role, replica.index);
  const LedgerReplica entry = known == nullptr ? LedgerReplica() : *known;
  PodSpec pod = RolePod(job, replica.role, replica.name,
                        {.image = snapshot.default_image,
                         .cuda_image = snapshot.cuda_image,
                         .gpu_resource = snapshot.gpu_resource});
  pod.labels = LabelsOf(snapshot, ledger, replica, entry.pod_number);
  pod.annotations[std::string(kBootstrapAnnotation)] = bootstrap;
  if (!ledger.token.empty()) pod.annotations[std::string(kTokenAnnotation)] = ledger.token;
  if (cluster != nullptr && !cluster->cluster.config_map.empty()) {
    pod.annotations[std::string(kClusterMapAnnotation)] = cluster->cluster.config_map;
  }
  if (snapshot.epoch > 0) {
    pod.annotations[std::string(kEpochAnnotation)] = std::to_string(snapshot.epoch);
  }
  if (!addresses.loopback() && !HasServicePerReplica(job, snapshot.addresses)) {
    pod.hostname = replica.name;
    pod.subdomain = job.meta.name;
  }
  pod.restart_policy = PodRestartPolicy(job, ledger, replica);
  pod.cluster = std::move(cluster);
  pod.port_name = dialect.port_name;
  pod.cluster_port = addresses.ClusterPortOf(replica.role, replica.index);
  if (dialect.status_port) {
    pod.status_port = addresses.StatusPortOf(replica.role, replica.index);
  }
  pod.avoid_nodes = NodesToAvoid(ledger, snapshot.now);
  pod.index = replica.index;
  pod.pod_number = entry.pod_number;
  JoinGang(snapshot, ledger, pod);
  return pod;
}

DeletePod Delete(const Pod& pod, std::string why) {
  return {.ns = pod.meta.ns,
          .name = pod.meta.name,
          .uid = pod.meta.uid,
          .resource_version = pod.meta.resource_version,
          .why = std::move(why)};
}

// True of a pod that has neither ended nor ever run to an end: of a replica that has completed it
// is not the pod that did.
bool IsUnused(const Pod& pod) {
  return !HasEnded(pod) && pod.restart_count == 0 && !pod.exit_code.has_value();
}

ReleasePod Release(const Pod& pod, bool ends_group) {
  return {.ns = pod.meta.ns,
          .name = pod.meta.name,
          .uid = pod.meta.uid,
          .resource_version = pod.meta.resource_version,
          .ends_group = ends_group};
}

class Children {
 public:
  Children(const Snapshot& snapshot, const Ledger& stored, const Ledger& wanted)
      : now_(snapshot), stored_(stored), wanted_(wanted), replicas_(ViewReplicas(now_, stored)),
        addresses_(now_.job, stored_, now_.addresses) {}

  ChildSteps Run() {
    if (stored_.outcome.has_value()) {
      CleanUp();
      return std::move(out_);
    }
    if (wanted_.outcome.has_value()) return {};
    LetGo();
    if (stored_.suspended && wanted_.suspended) {
      for (const ReplicaView& replica : replicas_) Remove(replica, "the job is suspended");
      RemoveGroup("the job is suspended");
      return std::move(out_);
    }
    const auto main = MainReplica(now_.job.spec);
    if (!main.has_value()) return {};
    bootstrap_ = addresses_.Cluster(main->first, main->second);
    const bool has_gang = PlanGang();
    const bool reachable = has_gang && PlanJobService();
    for (const ReplicaView& replica : replicas_) PlanReplica(replica, reachable);
    PutServicesFirst();
    for (const Pod& pod : now_.pods) {
      if (Lacks(pod, pod.cluster_map) && pod.cluster_map == ClusterMapName()) HasClusterMap();
    }
    return std::move(out_);
  }

 private:
  // False while no pod may be made.
  bool PlanGang() {
    if (!WhyNoGang(now_).reason.empty()) return false;
    if (IsReleased(stored_, now_.now)) RemoveGroup("the job is released");
    const bool suspended = stored_.suspended || wanted_.suspended;
    const bool released = IsReleased(stored_, now_.now) || IsReleased(wanted_, now_.now);
    if (suspended || released) return true;  // No pod is made anyway.
    const auto pod_of = [this](Role role) {
      const ReplicaView first{.role = role, .index = 0, .name = PodName(now_.job, role, 0)};
      return MakePod(now_, stored_, first, addresses_, bootstrap_, /*cluster=*/nullptr);
    };
    PodGroupPlan group = PlanPodGroup(now_, stored_, SomebodyWaits(), pod_of);
    for (Step& step : group.steps) out_.steps.push_back(std::move(step));
    return group.ready;
  }

  bool SomebodyWaits() const {
    return std::any_of(replicas_.begin(), replicas_.end(), [this](const ReplicaView& replica) {
      return IsInGang(now_.job, stored_, replica.role, replica.index) &&
             (replica.pod == nullptr || replica.pod->node.empty());
    });
  }

  void RemoveGroup(const std::string& why) {
    auto drop = DropPodGroup(now_, why);
    if (drop.has_value()) out_.steps.push_back(*std::move(drop));
  }

  // Pods that stay for Kueue's sake only, and whose end is counted where it counts.
  void LetGo() {
    if (now_.gang.scheduler != GangScheduler::kKueue) return;
    for (const ReplicaView& replica : replicas_) {
      if (replica.pod == nullptr || !IsHeldBack(*replica.pod)) continue;
      const LedgerReplica* entry = FindReplica(stored_, replica.role, replica.index);
      const bool counts = replica.wanted && entry != nullptr && !entry->completed &&
                          !entry->failed && !stored_.suspended && !stored_.outcome.has_value() &&
                          replica.pod->pod_number >= entry->pod_number;
      if (!counts) out_.steps.push_back(Release(*replica.pod, /*ends_group=*/false));
    }
  }

  // Of those that stay one says that nothing follows, or Kueue would keep their quota.
  void EndGroup() {
    if (now_.gang.scheduler != GangScheduler::kKueue) return;
    const Pod* stays = nullptr;
    for (const ReplicaView& replica : replicas_) {
      const Pod* pod = replica.pod;
      if (pod == nullptr || !pod->held_by_kueue || pod->meta.deletion_time.has_value()) continue;
      if (IsSurplus(now_.job, replica.role, replica.index)) continue;  // In no group.
      if (pod->ends_group) return;
      if (stays == nullptr && !IsDeleted(pod->meta.name)) stays = pod;
    }
    if (stays != nullptr) out_.steps.push_back(Release(*stays, /*ends_group=*/true));
  }

  // What is left when the outcome stands.
  void CleanUp() {
    LetGo();
    RemovePods();
    if (!some_have_grace_) RemoveGroup("the job has ended");
    EndGroup();
  }

  void RemovePods() {
    CleanPodPolicy policy = now_.job.spec.clean_pod_policy;
    const bool stopped = stored_.outcome_reason == kDeadlineExceeded ||
                         stored_.outcome_reason == kBackoffLimitExceeded;
    // A deadline that left everything running would be none; what has ended stays, for its logs.
    if (stopped && policy == CleanPodPolicy::kNone) policy = CleanPodPolicy::kRunning;
    for (const ReplicaView& replica : replicas_) {
      const LedgerReplica* entry = FindReplica(stored_, replica.role, replica.index);
      if (policy == CleanPodPolicy::kNone) {
        if (entry != nullptr && replica.pod != nullptr) DropIfUncalledFor(replica, *entry);
        continue;
      }
      const bool stopped_pod = replica.pod != nullptr && HasStopped(*replica.pod);
      if (policy == CleanPodPolicy::kRunning && stopped_pod) continue;
      if (HasGrace(replica) || IsJustNoted(replica)) continue;
      Remove(replica, "the job has ended");
    }
  }

  // It runs on after the success, and may end by itself.
  bool HasGrace(const ReplicaView& replica) {
    if (replica.pod == nullptr || HasStopped(*replica.pod)) return false;
    if (replica.pod->phase != PodPhase::kRunning) return false;  // It has not begun.
    const Clock::WallTime end = EndOfGrace(now_.job, stored_, replica.role);
    if (now_.now >= end || HasEnded(*replica.pod)) return false;
    out_.wake_at = std::min(out_.wake_at.value_or(end), end);
    some_have_grace_ = true;
    return true;
  }

  // That it has completed is still to be written.
  bool IsJustNoted(const ReplicaView& replica) const {
    const LedgerReplica* before = FindReplica(stored_, replica.role, replica.index);
    const LedgerReplica* after = FindReplica(wanted_, replica.role, replica.index);
    return before != nullptr && after != nullptr && before->completed != after->completed;
  }

  bool IsDeleted(const std::string& pod) const {
    return std::any_of(out_.steps.begin(), out_.steps.end(), [&pod](const Step& step) {
      const DeletePod* drop = std::get_if<DeletePod>(&step);
      return drop != nullptr && drop->name == pod;
    });
  }

  // The pod and, of a TFJob, the service of a replica.
  void Remove(const ReplicaView& replica, const std::string& why) {
    if (replica.pod != nullptr && !IsLeftToItsNode(*replica.pod)) Drop(*replica.pod, why);
    RemoveService(replica, why);
  }

  // It is being deleted, and its node may still say that it has ended.
  bool IsLeftToItsNode(const Pod& pod) {
    if (!pod.meta.deletion_time.has_value()) return false;
    const std::optional<Clock::WallTime> stuck_from = StuckFrom(now_, pod);
    if (!stuck_from.has_value()) return true;
    if (now_.now >= *stuck_from) return false;
    out_.wake_at = std::min(out_.wake_at.value_or(*stuck_from), *stuck_from);
    return true;
  }

  void Drop(const Pod& pod, std::string why) {
    const std::optional<Clock::WallTime> stuck_from = StuckFrom(now_, pod);
    DeletePod drop = Delete(pod, std::move(why));
    if (stuck_from.has_value() && now_.now >= *stuck_from) {
      drop.force = true;
      drop.why += "; node " + pod.node + " does not say that it has ended";
    }
    out_.steps.push_back(std::move(drop));
  }

  void RemoveService(const ReplicaView& replica, const std::string& why) {
    if (!HasServicePerReplica(now_.job, now_.addresses)) return;
    auto drop = DropService(now_, replica.name, why);
    if (drop.has_value()) out_.steps.push_back(*std::move(drop));
  }

  // False while what carries the service's name is not ours: pods could not find each other.
  bool PlanJobService() {
    if (addresses_.loopback() || HasServicePerReplica(now_.job, now_.addresses)) return true;
    return PlanService(now_.job.meta.name, [this] { return JobService(now_); });
  }

  template <typename Make>
  bool PlanService(const std::string& name, Make make) {
    const ServiceView* service = FindService(now_, name);
    if (service == nullptr) {
      out_.steps.push_back(make());
      return true;
    }
    if (service->owner_uid == now_.job.meta.uid) {
      const bool labelled = service->job == now_.job.meta.name;
      if (!labelled && TakesOver()) out_.steps.push_back(AdoptService(*service, make()));
      return !service->terminating;
    }
    if (!IsOfEarlierJob(*service, now_.job)) {
      out_.steps.push_back(
          ReportConflict{.kind = "service", .name = name, .owner_uid = service->owner_uid});
    }
    return false;
  }

  void PlanReplica(const ReplicaView& replica, bool reachable) {
    const LedgerReplica* entry = FindReplica(stored_, replica.role, replica.index);
    const LedgerReplica* later = FindReplica(wanted_, replica.role, replica.index);
    // Written ahead: a replica whose entry is about to change waits for that.
    if (entry == nullptr || later == nullptr || *entry != *later) return;
    if (replica.foreign != nullptr) {
      if (IsOfEarlierJob(*replica.foreign, now_.job)) return;
      if (replica.foreign->owner_uid == now_.job.meta.uid && TakesOver()) {
        out_.steps.push_back(AdoptPod(replica, *entry));
        return;
      }
      out_.steps.push_back(ReportConflict{.kind = "pod",
                                          .name = replica.name,
                                          .owner_uid = replica.foreign->owner_uid});
      return;
    }
    if (!replica.wanted) RemoveService(replica, "the role was scaled down");
    if (replica.pod != nullptr) {
      DropIfOld(replica, *entry);
      if (replica.wanted && !HasEnded(*replica.pod)) KeepReplicaService(replica);
    } else if (reachable && MayStart(replica, *entry)) {
      Create(replica, *entry);
    }
  }

  bool TakesOver() const { return now_.adopt && now_.job.kind == JobKind::kTfJob; }

  Adopt AdoptPod(const ReplicaView& replica, const LedgerReplica& entry) const {
    const ObjectMeta& pod = replica.foreign->meta;
    return {.ns = pod.ns,
            .name = pod.name,
            .uid = pod.uid,
            .resource_version = pod.resource_version,
            .labels = LabelsOf(now_, stored_, replica, entry.pod_number)};
  }

  Adopt AdoptService(const ServiceView& service, const CreateService& ours) const {
    return {.is_service = true,
            .ns = ours.ns,
            .name = ours.name,
            .uid = service.uid,
            .labels = ours.labels};
  }

  bool MayStart(const ReplicaView& replica, const LedgerReplica& entry) const {
    if (!replica.wanted || entry.completed || entry.failed) return false;
    // A pod carries its attempt; one of an attempt that is about to be over would be lost work.
    if (stored_.suspended || wanted_.suspended || stored_.attempt != wanted_.attempt) return false;
    if (IsReleased(stored_, now_.now) || IsReleased(wanted_, now_.now)) return false;
    const bool finishing = wanted_.finishing_since.has_value();
    return !finishing || replica.role == Role::kEvaluator;
  }

  void DropIfOld(const ReplicaView& replica, const LedgerReplica& entry) {
    const Pod& pod = *replica.pod;
    if (IsLeftToItsNode(pod)) return;
    if (!replica.wanted) {
      Drop(pod, "the role was scaled down");
    } else if (pod.pod_number < entry.pod_number) {
      Drop(pod, "pod " + std::to_string(entry.pod_number) + " follows it");
    } else if (entry.failed && !HasStopped(pod)) {
      // Its node would start it again and again.
      Drop(pod, "the replica failed for good");
    } else if (OutstaysFinish(replica)) {
      Drop(pod, "the job has what it was for");
    } else if (Lacks(pod, pod.cluster_map) && pod.cluster_map != ClusterMapName()) {
      Drop(pod, "the list of replicas that it was made with is gone");
    } else {
      DropIfUncalledFor(replica, entry);
    }
  }

  // A create that was under way for so long that the ledger has gone on meanwhile. All else that
  // can come late meets a precondition.
  void DropIfUncalledFor(const ReplicaView& replica, const LedgerReplica& entry) {
    const Pod& pod = *replica.pod;
    if (pod.meta.deletion_time.has_value() || HasStopped(pod)) return;
    if (entry.completed && IsUnused(pod)) {
      out_.steps.push_back(Delete(pod, "the replica had completed before it was made"));
    } else if (now_.late.count(pod.meta.uid) > 0 &&
               (stored_.outcome.has_value() || !MayStart(replica, entry))) {
      out_.steps.push_back(Delete(pod, "an earlier leader made it after its time"));
    }
  }

  // Of those that wait for nothing while an evaluator still works.
  bool OutstaysFinish(const ReplicaView& replica) const {
    return stored_.finishing_since.has_value() && replica.role != Role::kEvaluator &&
           now_.now >= *stored_.finishing_since + FinishGrace(now_.job.spec.bundled_trainer) &&
           !HasStopped(*replica.pod) &&
           now_.job.spec.clean_pod_policy != CleanPodPolicy::kNone;
  }

  // Also of a pod that exists: its creation may have come through where the service's did not.
  bool KeepReplicaService(const ReplicaView& replica) {
    if (!HasServicePerReplica(now_.job, now_.addresses)) return true;
    return PlanService(replica.name, [&] { return ReplicaService(now_, replica); });
  }

  void Create(const ReplicaView& replica, const LedgerReplica& entry) {
    if (addresses_.loopback() && (entry.port == 0 || entry.status_port == 0)) return;
    // All have the job's token, or none has.
    if (stored_.token != wanted_.token) return;
    // Before the services, of which a TFJob has as many as pods: that look ends soon.
    if (!HasClusterMap()) return;
    if (!KeepReplicaService(replica)) return;
    if (entry.not_before.has_value() && *entry.not_before > now_.now) {
      out_.wake_at = std::min(out_.wake_at.value_or(*entry.not_before), *entry.not_before);
      return;
    }
    if (cluster_ == nullptr) {
      ClusterText text{.config_map = ClusterMapName(), .common = ""};
      if (text.config_map.empty()) text.common = CommonCluster(now_.job, addresses_);
      cluster_ = std::make_shared<const ClusterFacts>(ClusterFacts{.job = now_.job,
                                                                   .ledger = stored_,
                                                                   .addresses = now_.addresses,
                                                                   .cluster = std::move(text)});
    }
    CreatePod create{MakePod(now_, stored_, replica, addresses_, bootstrap_, cluster_)};
    Mark(create.pod);
    out_.steps.push_back(std::move(create));
  }

  // The template is read once for all pods of a role.
  void Mark(PodSpec& pod) {
    const auto [mark, is_new] = marks_.try_emplace(pod.role);
    if (is_new) mark->second = MarkOf(now_, pod.role);
    pod.annotations[std::string(kTemplateAnnotation)] = HexOf(mark->second.hash);
    if (mark->second.requests.empty()) return;
    pod.annotations[std::string(kRequestsAnnotation)] = mark->second.requests;
  }

  // Until the last of some hundred services is made, the first pods would run and ask for its name;
  // and that there is none is what servers of names remember for a while.
  void PutServicesFirst() {
    // Few, or none is made.
    if (cluster_ == nullptr || cluster_->cluster.config_map.empty()) return;
    std::stable_partition(out_.steps.begin(), out_.steps.end(), [](const Step& step) {
      return std::holds_alternative<CreateService>(step);
    });
  }

  // Empty: each pod has the list of replicas in its own environment.
  const std::string& ClusterMapName() {
    if (!cluster_map_.has_value()) {
      cluster_map_ = ClusterMapOf(now_.job, addresses_).value_or(CreateConfigMap());
    }
    return cluster_map_->name;
  }

  // False while pods would wait for a ConfigMap that is still to be made.
  bool HasClusterMap() {
    if (!has_cluster_map_.has_value()) {
      const std::string& name = ClusterMapName();
      has_cluster_map_ = name.empty() || IsThere(now_, name);
      if (!*has_cluster_map_) out_.steps.push_back(*cluster_map_);
    }
    return *has_cluster_map_;
  }

  const Snapshot& now_;
  const Ledger& stored_;
  const Ledger& wanted_;
  const std::vector<ReplicaView> replicas_;
  const AddressBook addresses_;
  std::string bootstrap_;
  bool some_have_grace_ = false;
  std::shared_ptr<const ClusterFacts> cluster_;
  std::map<Role, TemplateMark> marks_;
  // Found out once, when it is needed: a look at each replica would look at all pods.
  std::optional<CreateConfigMap> cluster_map_;  // Without a name: there is to be none.
  std::optional<bool> has_cluster_map_;
  ChildSteps out_;
};

}  // namespace

std::vector<Step> ReleaseHeldBack(const Snapshot& snapshot) {
  std::vector<Step> steps;
  if (snapshot.gang.scheduler != GangScheduler::kKueue) return steps;
  for (const Pod& pod : snapshot.pods) {
    if (pod.owner_uid == snapshot.job.meta.uid && IsHeldBack(pod)) {
      steps.push_back(Release(pod, /*ends_group=*/false));
    }
  }
  return steps;
}

ChildSteps PlanChildren(const Snapshot& snapshot, const Ledger& stored, const Ledger& wanted) {
  return Children(snapshot, stored, wanted).Run();
}

}  // namespace taas
