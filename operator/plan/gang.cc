#include "operator/plan/gang.h"

#include <algorithm>
#include <cstdio>

#include "operator/api/dialect.h"
#include "operator/plan/exit_codes.h"
#include "operator/plan/replicas.h"

namespace taas {
namespace {

// What Volcano calls a group that it has not looked at, or has no room for.
constexpr std::string_view kPending = "Pending";

// 7 hexadecimal digits: with the longest name, of 55 characters, they make a label of 63.
constexpr uint32_t kGroupDigits = 0x0FFFFFFF;

// FNV-1a: one group for each attempt of each job, also of one that was deleted and made again.
std::string GroupName(const Job& job, int32_t attempt) {
  uint32_t hash = 2166136261u;
  for (const char c : job.meta.uid + "/" + std::to_string(attempt)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  }
  char digits[8];
  std::snprintf(digits, sizeof(digits), "%07x", hash & kGroupDigits);
  return job.meta.name + "-" + digits;
}

std::string GroupLabel(const Snapshot& snapshot) {
  const std::string& queue = snapshot.job.spec.scheduling.queue;
  return "its PodGroup " + snapshot.job.meta.name + (queue.empty() ? "" : " in queue " + queue);
}

}  // namespace

bool HasPodGroup(const Snapshot& snapshot) {
  return snapshot.gang.scheduler == GangScheduler::kVolcano ||
         snapshot.gang.scheduler == GangScheduler::kCoscheduling;
}

bool IsQueued(const Snapshot& snapshot) {
  return snapshot.gang.scheduler == GangScheduler::kKueue &&
         snapshot.job.kind == JobKind::kTrainingJob && !snapshot.job.spec.scheduling.queue.empty();
}

GangTrouble WhyNoGang(const Snapshot& snapshot) {
  if (!snapshot.job.spec.scheduling.gang_required) return {};
  if (snapshot.gang.scheduler == GangScheduler::kNone) {
    return {"NoGangScheduler",
            "spec.schedulingPolicy.gang is Required and the operator has no gang scheduler: start "
            "it with --gang-scheduler, or suspend the job and make it Auto"};
  }
  if (snapshot.gang.scheduler == GangScheduler::kKueue && !IsQueued(snapshot)) {
    return {"NoQueue",
            "spec.schedulingPolicy.gang is Required and spec.schedulingPolicy.queue is empty, but "
            "Kueue admits the jobs of a queue only: suspend the job and name one"};
  }
  return {};
}

GangTrouble WhyGangWaits(const Snapshot& snapshot) {
  if (!HasPodGroup(snapshot)) return {};
  const std::string who = GangSchedulerName(snapshot.gang.scheduler);
  if (!snapshot.pod_group.has_value()) {
    return {"WaitingForGang", "waits until " + GroupLabel(snapshot) + " is made"};
  }
  const PodGroupView& group = *snapshot.pod_group;
  if (group.owner_uid != snapshot.job.meta.uid) {
    if (IsOfEarlierJob(group, snapshot.job)) {
      return {"WaitingForGang",
              "waits until the PodGroup of an earlier job of this name is gone"};
    }
    return {"NameConflict",
            "the PodGroup " + snapshot.job.meta.name + " does not belong to this job (owner: " +
                (group.owner_uid.empty()
                     ? "none"
                     : (group.owner_kind.empty() ? "unknown" : group.owner_kind) + ", uid " +
                           group.owner_uid) +
                "), so its pods could not be placed together; delete it or rename the job"};
  }
  if (group.terminating) return {"WaitingForGang", "waits until its last PodGroup is gone"};
  if (snapshot.gang.scheduler != GangScheduler::kVolcano) return {};
  if (!group.phase.empty() && group.phase != kPending) return {};
  return {"WaitingForGang", "waits for " + who + ": " + GroupLabel(snapshot) + " is " +
                                (group.phase.empty() ? "new" : group.phase) +
                                (group.trouble.empty() ? "" : " (" + group.trouble + ")")};
}

bool IsInGang(const Job& job, const Ledger& ledger, Role role, int32_t index) {
  if (job.kind == JobKind::kTrainingJob && role == Role::kEvaluator) return false;
  if (IsSurplus(job, role, index)) return false;
  const auto spec = job.spec.roles.find(role);
  if (spec == job.spec.roles.end() || index >= spec->second.replicas) return false;
  const LedgerReplica* entry = FindReplica(ledger, role, index);
  return entry == nullptr || (!entry->completed && !entry->failed);
}

int32_t GangSize(const Snapshot& snapshot, const Ledger& ledger) {
  const Job& job = snapshot.job;
  int32_t members = 0;
  int32_t left = 0;  // Also those that no gang waits for.
  for (const auto& [role, spec] : job.spec.roles) {
    for (int32_t i = 0; i < spec.replicas; ++i) {
      members += IsInGang(job, ledger, role, i) ? 1 : 0;
      const LedgerReplica* entry = FindReplica(ledger, role, i);
      left += entry != nullptr && (entry->completed || entry->failed) ? 0 : 1;
    }
  }
  // What has ended holds no place any more: the rest could wait for it for ever.
  const std::optional<int32_t>& wanted = job.spec.scheduling.min_available;
  return std::max(1, wanted.has_value() ? std::min(*wanted, left) : members);
}

void JoinGang(const Snapshot& snapshot, const Ledger& ledger, PodSpec& pod) {
  const Job& job = snapshot.job;
  const std::string role(RoleNameIn(job, pod.role));
  if (HasPodGroup(snapshot)) pod.scheduler_name = snapshot.gang.name;
  switch (snapshot.gang.scheduler) {
    case GangScheduler::kNone:
      return;
    case GangScheduler::kVolcano:
      pod.annotations["scheduling.k8s.io/group-name"] = job.meta.name;
      pod.annotations["volcano.sh/task-spec"] = role;
      return;
    case GangScheduler::kCoscheduling:
      pod.labels["scheduling.x-k8s.io/pod-group"] = job.meta.name;
      return;
    case GangScheduler::kKueue:
      if (!IsQueued(snapshot) || !ledger.group.has_value()) return;
      pod.labels["kueue.x-k8s.io/queue-name"] = job.spec.scheduling.queue;
      // Admitted by itself, whenever it comes: the size of a group is fixed.
      if (IsSurplus(job, pod.role, pod.index)) return;
      pod.labels["kueue.x-k8s.io/pod-group-name"] = GroupName(job, ledger.group->attempt);
      pod.annotations["kueue.x-k8s.io/pod-group-total-count"] = std::to_string(ledger.group->pods);
      // Else it would tell roles by what their pods look like, and a successor that keeps away from
      // a bad node would be of a role that was never admitted.
      pod.annotations["kueue.x-k8s.io/role-hash"] = role;
      return;
  }
}

bool IsHeldBack(const Pod& pod) {
  if (!pod.held_by_kueue || !pod.meta.deletion_time.has_value()) return false;
  return HasStopped(pod) || pod.node.empty() || pod.node_lost;
}

}  // namespace taas
