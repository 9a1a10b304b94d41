#include "operator/plan/status.h"

#include "operator/plan/conditions.h"
#include "operator/plan/exit_codes.h"
#include "operator/plan/message.h"
#include "operator/plan/replicas.h"

namespace taas {
namespace {

JobState StateOf(const Snapshot& snapshot, const Ledger& ledger, const Tally& tally) {
  if (ledger.outcome.has_value()) return *ledger.outcome;
  if (ledger.suspended) return JobState::kSuspended;
  const bool released = ledger.released_until.has_value() && snapshot.now < *ledger.released_until;
  if (tally.desired == 0 || released) return JobState::kPending;
  if (ledger.finishing_since.has_value()) return JobState::kRunning;
  if (tally.restarting.has_value()) return JobState::kRestarting;
  if (tally.all_there || tally.core_there) return JobState::kRunning;
  const JobState before = snapshot.job.status.state;
  const bool ran = before == JobState::kRunning || before == JobState::kRestarting;
  return ran ? JobState::kRestarting : JobState::kPending;
}

// What the last pod of a suspended job said when it ended: it has saved a checkpoint since the last
// poll, from which the job will go on. Null: nothing further than `before`.
std::optional<TrainerReport> LastWordOf(const ReplicaView& replica,
                                        const std::optional<Progress>& before) {
  for (const Pod* pod : {replica.pod, replica.gone}) {
    if (pod == nullptr || !HasEnded(*pod)) continue;
    auto report = ParseTrainerReport(pod->termination_message);
    if (report.has_value() && report->step.value_or(0) > (before ? before->step : 0)) return report;
  }
  return std::nullopt;
}

std::optional<Progress> DeriveProgress(const Snapshot& snapshot, const Ledger& ledger) {
  std::optional<Progress> progress = snapshot.job.status.progress;
  const int64_t max_steps = snapshot.job.spec.trainer.max_steps;
  const auto main = MainReplica(snapshot.job.spec);
  if (!main.has_value()) return progress;
  for (const ReplicaView& replica : ViewReplicas(snapshot, ledger)) {
    if (std::pair(replica.role, replica.index) != *main) continue;
    const LedgerReplica* entry = FindReplica(ledger, replica.role, replica.index);
    const Pod* pod = entry == nullptr ? nullptr : FindCurrentPod(replica, *entry).pod;
    if (pod == nullptr && ledger.suspended) {
      const auto report = LastWordOf(replica, progress);
      return report.has_value() ? MergeProgress(progress, *report, max_steps) : progress;
    }
    if (pod == nullptr) continue;
    if (HasEnded(*pod)) {
      // The last word: no poll is newer.
      const auto report = ParseTrainerReport(pod->termination_message);
      if (report.has_value()) return MergeProgress(progress, *report, max_steps);
    } else if (snapshot.polled.has_value() && !ledger.outcome.has_value()) {
      return MergeProgress(progress, *snapshot.polled, max_steps);
    }
  }
  return progress;
}

}  // namespace

JobStatus InternalErrorStatus(const Snapshot& snapshot, const std::string& what) {
  JobStatus status = snapshot.job.status;
  status.message = "InternalError: " + what;
  status.conditions = WithInternalError(snapshot, what);
  return status;
}

JobStatus DeriveStatus(const Snapshot& snapshot, const Ledger& ledger,
                       std::vector<Hindrance>* hindrances) {
  const Job& job = snapshot.job;
  JobStatus status;
  const Tally tally = CountReplicas(snapshot, ledger);
  status.observed_generation = job.meta.generation;
  status.replica_statuses = tally.by_role;
  status.restarts = ledger.restarts;
  status.attempt = ledger.attempt;
  status.state = StateOf(snapshot, ledger, tally);
  status.ready = std::to_string(tally.ready) + "/" + std::to_string(tally.desired);
  status.selector = std::string(kJobLabel) + "=" + job.meta.name + "," + std::string(kRoleLabel) +
                    "=" + std::string(RoleName(Role::kWorker));
  status.message = WhyNoProgress(snapshot, ledger, hindrances);
  status.progress = DeriveProgress(snapshot, ledger);
  status.start_time = ledger.start_time;
  status.success_policy = EffectiveSuccessPolicy(job);
  status.history = ledger.history;
  status.gpus = tally.gpus;
  status.completion_time = ledger.outcome_time;
  status.conditions = DeriveConditions(snapshot, ledger, tally, status);
  return status;
}

}  // namespace taas
