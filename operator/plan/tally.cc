#include "operator/plan/tally.h"

#include "operator/plan/budget.h"
#include "operator/plan/exit_codes.h"
#include "operator/plan/replicas.h"

namespace taas {
namespace {

// A container that its node starts again and again does not run, whatever the phase says.
bool Runs(const Pod* pod) {
  return pod != nullptr && pod->phase == PodPhase::kRunning && !HasEnded(*pod) &&
         !pod->meta.deletion_time.has_value() && pod->waiting_reason.empty();
}

// " (Unschedulable: 0/3 nodes are available)", in the scheduler's words.
std::string WhyOf(const Pod* pod) {
  if (pod == nullptr || pod->unschedulable_reason.empty()) return "";
  const std::string& message = pod->unschedulable_message;
  return " (" + pod->unschedulable_reason.str() + (message.empty() ? "" : ": " + message) + ")";
}

}  // namespace

Tally CountReplicas(const Snapshot& snapshot, const Ledger& ledger) {
  Tally tally;
  const Job& job = snapshot.job;
  const auto main = MainReplica(job.spec);
  int32_t workers_there = 0;
  for (const auto& [role, spec] : job.spec.roles) tally.by_role[role];
  for (const ReplicaView& replica : ViewReplicas(snapshot, ledger)) {
    const LedgerReplica* entry = FindReplica(ledger, replica.role, replica.index);
    if (!replica.wanted || entry == nullptr) continue;
    ReplicaStatus& role = tally.by_role[replica.role];
    ++role.desired;
    ++tally.desired;
    const CurrentPod current = FindCurrentPod(replica, *entry);
    const Pod* pod = current.gone ? nullptr : current.pod;
    if (replica.pod != nullptr && !HasStopped(*replica.pod)) {
      if (!replica.pod->node.empty()) tally.gpus += job.spec.roles.at(replica.role).GpusHeld();
      // To readers of TFJobs only a pod that runs is active.
      if (job.kind == JobKind::kTrainingJob || Runs(replica.pod)) ++role.active;
    }
    if (Runs(pod) && !pod->unready) {
      ++role.ready;
      ++tally.ready;
    }
    if (entry->completed) ++role.succeeded;
    const bool ended_badly = ledger.outcome == JobState::kFailed && pod != nullptr &&
                             HasEnded(*pod) && !entry->completed;
    if (entry->failed || ended_badly) ++role.failed;
    const bool there = entry->completed || Runs(pod);
    if (there && replica.role == Role::kWorker) ++workers_there;
    // A replica without which the job goes on holds nobody up.
    if (entry->failed) continue;
    tally.all_there = tally.all_there && there;
    const bool core = replica.role == Role::kPs || main == std::pair(replica.role, replica.index);
    if (core) tally.core_there = tally.core_there && there;
    const bool started_before =
        entry->pod_number > entry->first_pod || (pod != nullptr && pod->restart_count > 0);
    const bool restarts = !there && started_before &&
                          !IsDispensable(job, replica.role, replica.index);
    if (restarts && !tally.restarting.has_value()) tally.restarting = replica.role;
    if (!entry->completed && (pod == nullptr || pod->node.empty())) {
      if (++tally.unscheduled == 1) tally.first_unscheduled = replica.short_name + WhyOf(pod);
    }
  }
  // Any so many will do, whichever they are.
  if (tally.restarting == Role::kWorker && workers_there >= NeededWorkers(job)) {
    tally.restarting.reset();
  }
  return tally;
}

}  // namespace taas
