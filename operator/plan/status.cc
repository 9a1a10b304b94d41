#include "operator/plan/status.h"

#include <algorithm>

#include "operator/plan/exit_codes.h"
#include "operator/plan/message.h"
#include "operator/plan/replicas.h"

namespace taas {
namespace {

bool Runs(const Pod* pod) {
  return pod != nullptr && pod->phase == PodPhase::kRunning && !pod->meta.deletion_time.has_value();
}

// What the replicas amount to, in one pass.
struct Tally {
  std::map<Role, ReplicaStatus> by_role;
  int32_t desired = 0;
  int32_t ready = 0;       // Running or completed.
  int32_t unscheduled = 0;
  bool all_ready = true;
  bool core_ready = true;   // Main replica and parameter servers: then there is training.
  bool restarting = false;  // Some replica is between two of its pods.
  std::string first_unscheduled;
};

Tally Count(const Snapshot& snapshot, const Ledger& ledger) {
  Tally tally;
  const auto main = MainReplica(snapshot.job.spec);
  for (const auto& [role, spec] : snapshot.job.spec.roles) tally.by_role[role];
  for (const ReplicaView& replica : ViewReplicas(snapshot, ledger)) {
    const LedgerReplica* entry = FindReplica(ledger, replica.role, replica.index);
    if (!replica.wanted || entry == nullptr) continue;
    ReplicaStatus& role = tally.by_role[replica.role];
    ++role.desired;
    ++tally.desired;
    const CurrentPod current = FindCurrentPod(replica, *entry);
    const Pod* pod = current.gone ? nullptr : current.pod;
    if (replica.pod != nullptr && !HasEnded(*replica.pod)) ++role.active;
    if (Runs(pod)) ++role.ready;
    if (entry->completed) ++role.succeeded;
    if (ledger.outcome == JobState::kFailed && pod != nullptr && HasEnded(*pod) &&
        !entry->completed) {
      ++role.failed;
    }
    const bool ready = entry->completed || Runs(pod);
    if (ready) ++tally.ready;
    tally.all_ready = tally.all_ready && ready;
    const bool core =
        replica.role == Role::kPs || main == std::pair(replica.role, replica.index);
    if (core) tally.core_ready = tally.core_ready && ready;
    if (!ready && entry->pod_number > 1) tally.restarting = true;
    if (!entry->completed && (pod == nullptr || pod->node.empty())) {
      if (++tally.unscheduled == 1) tally.first_unscheduled = replica.short_name;
    }
  }
  return tally;
}

JobState StateOf(const Snapshot& snapshot, const Ledger& ledger, const Tally& tally) {
  if (ledger.outcome.has_value()) return *ledger.outcome;
  if (tally.desired == 0) return JobState::kPending;
  if (tally.restarting) return JobState::kRestarting;
  if (tally.all_ready || tally.core_ready) return JobState::kRunning;
  const JobState before = snapshot.job.status.state;
  const bool ran = before == JobState::kRunning || before == JobState::kRestarting;
  return ran ? JobState::kRestarting : JobState::kPending;
}

class Conditions {
 public:
  Conditions(const Snapshot& snapshot, std::vector<Condition> before)
      : snapshot_(snapshot), conditions_(std::move(before)) {}

  bool Has(std::string_view type) {
    return std::any_of(conditions_.begin(), conditions_.end(),
                       [&](const Condition& c) { return c.type == type; });
  }
  void Set(std::string_view type, bool status, std::string reason, std::string message) {
    auto found = std::find_if(conditions_.begin(), conditions_.end(),
                              [&](const Condition& c) { return c.type == type; });
    if (found == conditions_.end()) {
      conditions_.push_back({.type = std::string(type)});
      found = std::prev(conditions_.end());
      found->last_transition_time = snapshot_.now;
    } else if (found->status != status) {
      found->last_transition_time = snapshot_.now;
    }
    found->status = status;
    found->reason = std::move(reason);
    found->message = std::move(message);
    found->observed_generation = snapshot_.job.meta.generation;
  }
  std::vector<Condition> Take() { return std::move(conditions_); }

 private:
  const Snapshot& snapshot_;
  std::vector<Condition> conditions_;
};

std::vector<Condition> DeriveConditions(const Snapshot& snapshot, const Ledger& ledger,
                                        const Tally& tally, const JobStatus& status) {
  Conditions conditions(snapshot, snapshot.job.status.conditions);
  conditions.Set("Created", true, "Accepted", "The job was accepted");
  if (!ledger.outcome.has_value()) {
    if (tally.unscheduled == 0) {
      conditions.Set("Scheduled", true, "AllScheduled", "All replicas have a node");
    } else {
      conditions.Set("Scheduled", false, "WaitingForNodes",
                     std::to_string(tally.unscheduled) + " of " + std::to_string(tally.desired) +
                         " replicas have no node yet, the first is " + tally.first_unscheduled);
    }
  }
  const bool running = status.state == JobState::kRunning;
  const bool restarting = status.state == JobState::kRestarting;
  if (ledger.outcome.has_value()) {
    conditions.Set("Running", false, "JobEnded", "The job has ended");
  } else if (running) {
    conditions.Set("Running", true, "ReplicasRun", status.ready + " replicas run");
  } else {
    conditions.Set("Running", false, restarting ? "ReplicasRestart" : "ReplicasStart",
                   status.ready + " replicas run");
  }
  if (restarting) {
    conditions.Set("Restarting", true, "ReplicasRestart", status.message);
  } else if (conditions.Has("Restarting")) {
    conditions.Set("Restarting", false, ledger.outcome.has_value() ? "JobEnded" : "ReplicasRun",
                   "No replica waits for its next pod");
  }
  if (conditions.Has(kInternalErrorCondition)) {
    conditions.Set(kInternalErrorCondition, false, "Resolved", "The job can be planned again");
  }
  if (ledger.outcome.has_value()) {
    conditions.Set(JobStateName(*ledger.outcome), true, ledger.outcome_reason,
                   ledger.outcome_message);
  }
  return conditions.Take();
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
  Conditions conditions(snapshot, std::move(status.conditions));
  conditions.Set(kInternalErrorCondition, true, "BrokenInvariant", what);
  status.conditions = conditions.Take();
  return status;
}

JobStatus DeriveStatus(const Snapshot& snapshot, const Ledger& ledger) {
  const Job& job = snapshot.job;
  JobStatus status;
  const Tally tally = Count(snapshot, ledger);
  status.observed_generation = job.meta.generation;
  status.replica_statuses = tally.by_role;
  status.restarts = ledger.restarts;
  status.attempt = ledger.attempt;
  status.state = StateOf(snapshot, ledger, tally);
  status.ready = std::to_string(tally.ready) + "/" + std::to_string(tally.desired);
  status.selector = std::string(kJobLabel) + "=" + job.meta.name + "," + std::string(kRoleLabel) +
                    "=" + std::string(RoleName(Role::kWorker));
  status.message = WhyNoProgress(snapshot, ledger);
  status.progress = DeriveProgress(snapshot, ledger);
  status.start_time = job.status.start_time.value_or(job.meta.creation_time.value_or(snapshot.now));
  status.completion_time = ledger.outcome_time;
  status.conditions = DeriveConditions(snapshot, ledger, tally, status);
  return status;
}

}  // namespace taas
