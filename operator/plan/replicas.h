// The replicas of a job beside the pods that exist for them.
//
// Ownership: the views point into the snapshot, which outlives them. Threads: any. Errors: none.
//
//   for (const ReplicaView& replica : ViewReplicas(snapshot, ledger)) Use(replica.pod);

#ifndef OPERATOR_PLAN_REPLICAS_H_
#define OPERATOR_PLAN_REPLICAS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/plan/snapshot.h"

namespace taas {

struct ReplicaView {
  Role role = Role::kWorker;
  int32_t index = 0;
  std::string name;       // Of the pod.
  std::string short_name;  // "worker-0", for messages.
  bool wanted = true;     // False: in the ledger, but scaled away.
  const Pod* pod = nullptr;      // Ours, under this name.
  const Pod* gone = nullptr;     // Ours, the last one known to be gone.
  const Pod* foreign = nullptr;  // Under this name, and not ours: never touched.
};

// By role, then index: those that the spec asks for and those that only the ledger knows.
std::vector<ReplicaView> ViewReplicas(const Snapshot& snapshot, const Ledger& ledger);

// The replica that the others gather around: chief 0, else worker 0. Nothing if there is neither.
std::optional<std::pair<Role, int32_t>> MainReplica(const JobSpec& spec);

// Without so many workers there is no training: all of them, or elastic.minReplicas.
int32_t NeededWorkers(const Job& job);
// A worker of an elastic job beyond those.
bool IsSurplus(const Job& job, Role role, int32_t index);

// Never Worker0 or AllWorkers of a job without workers, nor of a TFJob with a chief; Auto: the
// chief's completion is the job's.
SuccessPolicy EffectiveSuccessPolicy(const Job& job);
// True of a replica without whose completion the job does not succeed.
bool DecidesSuccess(const Job& job, Role role, int32_t index);

// True of a pod that belongs to a job of this name that was deleted: it goes by itself, and is
// waited for.
bool IsOfEarlierJob(const Pod& pod, const Job& job);
bool IsOfEarlierJob(const ServiceView& service, const Job& job);
bool IsOfEarlierJob(const PodGroupView& group, const Job& job);

// The service with this name; nothing: there is none.
const ServiceView* FindService(const Snapshot& snapshot, const std::string& name);

const LedgerReplica* FindReplica(const Ledger& ledger, Role role, int32_t index);
// Of the replica whose pod has this name, whatever its labels say; null: there is none.
const LedgerReplica* FindReplicaOf(const Job& job, const Ledger& ledger, const Pod& pod);

// Whoever may edit a pod may write any number there, and the next pod has one more: a large one is
// believed only of the pod that the ledger speaks of. `entry`: the replica's, or null.
int32_t BelievedNumber(const Pod& pod, const LedgerReplica* entry);
// Makes the numbers of all pods of the snapshot those that are believed.
void TakeIncredibleNumbers(Snapshot& snapshot);

// The pod that the ledger speaks of: the live one of this number, else the gone one of this number.
struct CurrentPod {
  const Pod* pod = nullptr;
  bool gone = false;
};
CurrentPod FindCurrentPod(const ReplicaView& replica, const LedgerReplica& entry);

}  // namespace taas

#endif  // OPERATOR_PLAN_REPLICAS_H_
