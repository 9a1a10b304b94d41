#include "operator/plan/pods.h"

#include <algorithm>

#include "operator/api/defaults.h"
#include "operator/plan/exit_codes.h"
#include "operator/plan/replicas.h"
#include "operator/plan/tf_config.h"

namespace taas {
namespace {

bool MountedIn(const VolumeSpec& volume, Role role) {
  return volume.roles.empty() ||
         std::find(volume.roles.begin(), volume.roles.end(), role) != volume.roles.end();
}

PodSpec MakePod(const Snapshot& snapshot, const Ledger& ledger, const ReplicaView& replica,
                const AddressBook& addresses, const std::string& bootstrap,
                std::vector<std::pair<std::string, std::string>> env) {
  const Job& job = snapshot.job;
  const LedgerReplica& entry = *FindReplica(ledger, replica.role, replica.index);
  PodSpec pod{.ns = job.meta.ns, .name = replica.name};
  pod.labels = {
      {"app.kubernetes.io/managed-by", "taas"},
      {std::string(kJobLabel), job.meta.name},
      {std::string(kUidLabel), job.meta.uid},
      {std::string(kRoleLabel), std::string(RoleName(replica.role))},
      {std::string(kIndexLabel), std::to_string(replica.index)},
      {std::string(kAttemptLabel), std::to_string(ledger.attempt)},
      {std::string(kPodNumberLabel), std::to_string(entry.pod_number)},
  };
  pod.annotations[std::string(kBootstrapAnnotation)] = bootstrap;
  pod.job_name = job.meta.name;
  pod.job_uid = job.meta.uid;
  if (!addresses.loopback()) {
    pod.hostname = replica.name;
    pod.subdomain = job.meta.name;
  }
  pod.image = job.spec.trainer.image.empty() ? snapshot.default_image : job.spec.trainer.image;
  pod.env = std::move(env);
  pod.cluster_port = addresses.ClusterPortOf(replica.role, replica.index);
  pod.status_port = addresses.StatusPortOf(replica.role, replica.index);
  for (const VolumeSpec& volume : job.spec.volumes) {
    if (MountedIn(volume, replica.role)) pod.volumes.push_back(volume);
  }
  pod.avoid_nodes = entry.avoid_nodes;
  pod.role = replica.role;
  pod.index = replica.index;
  pod.pod_number = entry.pod_number;
  return pod;
}

DeletePod Delete(const Pod& pod, std::string why) {
  return {.ns = pod.meta.ns,
          .name = pod.meta.name,
          .uid = pod.meta.uid,
          .resource_version = pod.meta.resource_version,
          .force = pod.reason == "NodeLost",
          .why = std::move(why)};
}

// What is left when the outcome stands.
void CleanUp(const Snapshot& snapshot, const std::vector<ReplicaView>& replicas, ChildSteps* out) {
  const CleanPodPolicy policy = snapshot.job.spec.clean_pod_policy;
  if (policy == CleanPodPolicy::kNone) return;
  for (const ReplicaView& replica : replicas) {
    if (replica.pod == nullptr || replica.pod->meta.deletion_time.has_value()) continue;
    if (policy == CleanPodPolicy::kRunning && HasEnded(*replica.pod)) continue;
    out->steps.push_back(Delete(*replica.pod, "the job has ended"));
  }
}

class Children {
 public:
  Children(const Snapshot& snapshot, const Ledger& stored, const Ledger& wanted)
      : now_(snapshot), stored_(stored), wanted_(wanted), replicas_(ViewReplicas(now_, stored)),
        addresses_(now_.job, stored_, now_.addresses) {}

  ChildSteps Run() {
    if (stored_.outcome.has_value()) {
      CleanUp(now_, replicas_, &out_);
      return std::move(out_);
    }
    if (wanted_.outcome.has_value()) return {};
    const auto main = MainReplica(now_.job.spec);
    if (!main.has_value()) return {};
    const bool reachable = PlanService();
    bootstrap_ = addresses_.Cluster(main->first, main->second);
    const LedgerReplica* main_entry = FindReplica(wanted_, main->first, main->second);
    const bool finishing = main_entry != nullptr && main_entry->completed;
    for (const ReplicaView& replica : replicas_) {
      const LedgerReplica* entry = FindReplica(stored_, replica.role, replica.index);
      const LedgerReplica* later = FindReplica(wanted_, replica.role, replica.index);
      // Written ahead: a replica whose entry is about to change waits for that.
      if (entry == nullptr || later == nullptr || *entry != *later) continue;
      if (replica.foreign != nullptr) {
        if (IsOfEarlierJob(*replica.foreign, now_.job)) continue;
        out_.steps.push_back(ReportConflict{.kind = "pod",
                                            .name = replica.name,
                                            .owner_uid = replica.foreign->owner_uid});
      } else if (replica.pod != nullptr) {
        DropIfOld(replica, *entry);
      } else if (reachable && !finishing && replica.wanted && !entry->completed) {
        Create(replica, *entry);
      }
    }
    return std::move(out_);
  }

 private:
  // False while what carries the service's name is not ours: pods could not find each other.
  bool PlanService() {
    if (addresses_.loopback()) return true;
    const std::string& name = now_.job.meta.name;
    const ServiceView* service = FindService(now_, name);
    if (service == nullptr) {
      CreateService create{.ns = now_.job.meta.ns, .name = name, .job_name = name,
                           .job_uid = now_.job.meta.uid};
      create.labels = {{"app.kubernetes.io/managed-by", "taas"},
                       {std::string(kJobLabel), name},
                       {std::string(kUidLabel), now_.job.meta.uid}};
      create.selector = {{std::string(kJobLabel), name}};
      create.ports = {{std::string(kTrainerPortName), kTrainerPort},
                      {std::string(kStatusPortName), kStatusPort}};
      out_.steps.push_back(std::move(create));
      return true;
    }
    if (service->owner_uid == now_.job.meta.uid) return true;
    if (!IsOfEarlierJob(*service, now_.job)) {
      out_.steps.push_back(
          ReportConflict{.kind = "service", .name = name, .owner_uid = service->owner_uid});
    }
    return false;
  }

  void DropIfOld(const ReplicaView& replica, const LedgerReplica& entry) {
    if (replica.pod->pod_number >= entry.pod_number) return;
    const bool force = replica.pod->reason == "NodeLost";
    if (replica.pod->meta.deletion_time.has_value() && !force) return;
    out_.steps.push_back(Delete(
        *replica.pod, replica.wanted ? "pod " + std::to_string(entry.pod_number) + " follows it"
                                     : "the role was scaled down"));
  }

  void Create(const ReplicaView& replica, const LedgerReplica& entry) {
    if (addresses_.loopback() && (entry.port == 0 || entry.status_port == 0)) return;
    if (entry.not_before.has_value() && *entry.not_before > now_.now) {
      out_.wake_at = std::min(out_.wake_at.value_or(*entry.not_before), *entry.not_before);
      return;
    }
    auto env = ReplicaEnvironment(now_.job, stored_, addresses_, replica.role, replica.index);
    if (!env.ok()) return;  // The wanted ledger has an outcome that says so.
    out_.steps.push_back(
        CreatePod{MakePod(now_, stored_, replica, addresses_, bootstrap_, *std::move(env))});
  }

  const Snapshot& now_;
  const Ledger& stored_;
  const Ledger& wanted_;
  const std::vector<ReplicaView> replicas_;
  const AddressBook addresses_;
  std::string bootstrap_;
  ChildSteps out_;
};

}  // namespace

ChildSteps PlanChildren(const Snapshot& snapshot, const Ledger& stored, const Ledger& wanted) {
  return Children(snapshot, stored, wanted).Run();
}

}  // namespace taas
