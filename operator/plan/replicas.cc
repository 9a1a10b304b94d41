#include "operator/plan/replicas.h"

#include <algorithm>
#include <map>
#include <set>

#include "operator/api/dialect.h"

namespace taas {
namespace {

using Key = std::pair<Role, int32_t>;

std::set<Key> AllReplicas(const JobSpec& spec, const Ledger& ledger) {
  std::set<Key> keys;
  for (const auto& [role, role_spec] : spec.roles) {
    for (int32_t index = 0; index < role_spec.replicas; ++index) keys.insert({role, index});
  }
  for (const auto& [role, entries] : ledger.replicas) {
    for (const auto& [index, entry] : entries) keys.insert({role, index});
  }
  return keys;
}

// Another controller of this kind of job gives its pods our names and our job as their owner, but
// not our labels.
bool IsOurs(const Pod& pod, const Job& job) {
  return pod.owner_uid == job.meta.uid && pod.job == job.meta.name;
}

}  // namespace

std::vector<ReplicaView> ViewReplicas(const Snapshot& snapshot, const Ledger& ledger) {
  const Job& job = snapshot.job;
  std::map<std::string, const Pod*> live;
  for (const Pod& pod : snapshot.pods) live[pod.meta.name] = &pod;
  std::map<std::string, const Pod*> gone;
  for (const Pod& pod : snapshot.gone) {
    if (!IsOurs(pod, job)) continue;
    const Pod*& last = gone[pod.meta.name];
    if (last == nullptr || last->pod_number < pod.pod_number) last = &pod;
  }
  std::vector<ReplicaView> views;
  for (const auto& [role, index] : AllReplicas(job.spec, ledger)) {
    ReplicaView view{.role = role, .index = index, .name = PodName(job, role, index)};
    view.short_name = std::string(RoleNameIn(job, role)) + "-" + std::to_string(index);
    const auto spec = job.spec.roles.find(role);
    view.wanted = spec != job.spec.roles.end() && index < spec->second.replicas;
    if (const auto found = live.find(view.name); found != live.end()) {
      (IsOurs(*found->second, job) ? view.pod : view.foreign) = found->second;
    }
    if (const auto found = gone.find(view.name); found != gone.end()) view.gone = found->second;
    views.push_back(std::move(view));
  }
  return views;
}

std::optional<std::pair<Role, int32_t>> MainReplica(const JobSpec& spec) {
  for (const Role role : {Role::kChief, Role::kWorker}) {
    const auto found = spec.roles.find(role);
    if (found != spec.roles.end() && found->second.replicas > 0) return std::pair(role, 0);
  }
  return std::nullopt;
}

int32_t NeededWorkers(const Job& job) {
  const auto found = job.spec.roles.find(Role::kWorker);
  if (found == job.spec.roles.end()) return 0;
  const RoleSpec& workers = found->second;
  return workers.elastic.has_value() ? std::min(workers.elastic->min_replicas, workers.replicas)
                                     : workers.replicas;
}

bool IsSurplus(const Job& job, Role role, int32_t index) {
  const auto found = job.spec.roles.find(role);
  if (found == job.spec.roles.end() || !found->second.elastic.has_value()) return false;
  return index >= found->second.elastic->min_replicas;
}

namespace {

int32_t ReplicasOf(const JobSpec& spec, Role role) {
  const auto found = spec.roles.find(role);
  return found == spec.roles.end() ? 0 : found->second.replicas;
}

}  // namespace

SuccessPolicy EffectiveSuccessPolicy(const Job& job) {
  const bool has_chief = ReplicasOf(job.spec, Role::kChief) > 0;
  if (ReplicasOf(job.spec, Role::kWorker) == 0) return SuccessPolicy::kAuto;
  if (job.kind == JobKind::kTfJob && has_chief) return SuccessPolicy::kAuto;
  if (job.spec.success_policy != SuccessPolicy::kAuto) return job.spec.success_policy;
  return has_chief ? SuccessPolicy::kAuto : SuccessPolicy::kWorker0;
}

bool DecidesSuccess(const Job& job, Role role, int32_t index) {
  switch (EffectiveSuccessPolicy(job)) {
    case SuccessPolicy::kAuto: return role == Role::kChief;
    case SuccessPolicy::kWorker0: return role == Role::kWorker && index == 0;
    case SuccessPolicy::kAllWorkers:
      // The training does not wait for those above the fewest, nor does its end.
      return role == Role::kChief || (role == Role::kWorker && !IsSurplus(job, role, index));
  }
  return false;
}

namespace {

// Of anything that has a label of ours and an owner.
template <typename Object>
bool IsOfEarlier(const Object& object, const Job& job) {
  return object.job == job.meta.name && object.owner_kind == DialectOf(job.kind).kind_name &&
         !object.owner_uid.empty() && object.owner_uid != job.meta.uid;
}

}  // namespace

bool IsOfEarlierJob(const Pod& pod, const Job& job) { return IsOfEarlier(pod, job); }
bool IsOfEarlierJob(const ServiceView& service, const Job& job) {
  return IsOfEarlier(service, job);
}
bool IsOfEarlierJob(const PodGroupView& group, const Job& job) { return IsOfEarlier(group, job); }

const ServiceView* FindService(const Snapshot& snapshot, const std::string& name) {
  const auto found = snapshot.services.find(name);
  return found == snapshot.services.end() ? nullptr : &found->second;
}

const LedgerReplica* FindReplica(const Ledger& ledger, Role role, int32_t index) {
  const auto of_role = ledger.replicas.find(role);
  if (of_role == ledger.replicas.end()) return nullptr;
  const auto found = of_role->second.find(index);
  return found == of_role->second.end() ? nullptr : &found->second;
}

const LedgerReplica* FindReplicaOf(const Job& job, const Ledger& ledger, const Pod& pod) {
  if (pod.role.has_value() && PodName(job, *pod.role, pod.index) == pod.meta.name) {
    return FindReplica(ledger, *pod.role, pod.index);
  }
  for (const auto& [role, entries] : ledger.replicas) {
    for (const auto& [index, entry] : entries) {
      if (PodName(job, role, index) == pod.meta.name) return &entry;
    }
  }
  return nullptr;
}

int32_t BelievedNumber(const Pod& pod, const LedgerReplica* entry) {
  const bool current = entry != nullptr && entry->pod_number == pod.pod_number;
  return current || pod.pod_number <= kCountMax ? pod.pod_number : 0;
}

void TakeIncredibleNumbers(Snapshot& snapshot) {
  const Job& job = snapshot.job;
  for (std::vector<Pod>* pods : {&snapshot.pods, &snapshot.gone}) {
    for (Pod& pod : *pods) {
      if (pod.pod_number <= kCountMax) continue;  // As nearly all; the search is long.
      pod.pod_number = BelievedNumber(
          pod, job.ledger.has_value() ? FindReplicaOf(job, *job.ledger, pod) : nullptr);
    }
  }
}

CurrentPod FindCurrentPod(const ReplicaView& replica, const LedgerReplica& entry) {
  if (replica.pod != nullptr && replica.pod->pod_number == entry.pod_number) {
    return {.pod = replica.pod};
  }
  if (replica.gone != nullptr && replica.gone->pod_number == entry.pod_number) {
    return {.pod = replica.gone, .gone = true};
  }
  return {};
}

}  // namespace taas
