#include "operator/plan/ledger_draft.h"

#include <algorithm>

#include "operator/plan/budget.h"
#include "operator/plan/tfjob_text.h"

namespace taas {
namespace {

// The ledger as it was stored; for a job without one (new, or the annotation was wiped) what status
// and pods still tell of it.
Ledger StoredOrRebuilt(const Snapshot& snapshot) {
  const Job& job = snapshot.job;
  if (job.ledger.has_value()) return *job.ledger;
  Ledger ledger;
  ledger.attempt = std::max(1, job.status.attempt);
  ledger.start_time = job.status.start_time;
  ledger.suspended = job.status.state == JobState::kSuspended;
  ledger.restarts = job.status.restarts;
  ledger.history = job.status.history;
  if (job.status.state == JobState::kSucceeded || job.status.state == JobState::kFailed) {
    ledger.outcome = job.status.state;
    ledger.outcome_time = job.status.completion_time.value_or(snapshot.now);
    ledger.outcome_message = job.status.message;
    for (const Condition& condition : job.status.conditions) {
      if (condition.type != JobStateName(job.status.state)) continue;
      ledger.outcome_reason = condition.reason;
      ledger.outcome_message = condition.message;
    }
  }
  return ledger;
}

// What of `restarts` was the replica's own, and which restarts by its node are among them: without
// this they would be charged once more, and to the training.
void RebuildCounts(const Snapshot& snapshot, const ReplicaView& view, LedgerReplica& entry) {
  const JobStatus& status = snapshot.job.status;
  if (IsDispensable(snapshot.job, view.role, view.index)) {
    entry.own_restarts = OwnRestartsIn(status.history, snapshot.job, view.role, view.index);
  }
  // Where the status is lost too, none has been counted.
  if (view.pod == nullptr || view.pod->pod_number != entry.pod_number) return;
  if (!status.restarts.empty()) entry.restarts_in_place = view.pod->restart_count;
}

// Cuts before the character that crosses the limit.
void CutAt(std::string& text, size_t bytes_max) {
  if (text.size() <= bytes_max) return;
  while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xC0) == 0x80) --bytes_max;
  text.resize(bytes_max);
}

}  // namespace

// One entry per wanted replica, and never a number below that of a pod that is or was there: a
// wiped or restored annotation must not make two pods share a number.
LedgerDraft::LedgerDraft(const Snapshot& snapshot)
    : now_(snapshot), change_{.ledger = StoredOrRebuilt(snapshot)} {
  for (const auto& [role, spec] : now_.job.spec.roles) {
    for (int32_t index = 0; index < spec.replicas; ++index) ledger().replicas[role][index];
  }
  views_ = ViewReplicas(now_, ledger());
  for (const ReplicaView& view : views_) {
    LedgerReplica& entry = EntryOf(view);
    for (const Pod* pod : {view.pod, view.gone}) {
      if (pod != nullptr) entry.pod_number = std::max(entry.pod_number, pod->pod_number);
    }
    if (!now_.job.ledger.has_value()) RebuildCounts(now_, view, entry);
  }
}

void LedgerDraft::Note(bool warning, std::string reason, std::string message) {
  change_.notes.push_back({warning, std::move(reason), std::move(message)});
}

void LedgerDraft::End(JobState outcome, std::string reason, std::string message) {
  ledger().outcome = outcome;
  ledger().outcome_time = now_.now;
  ledger().outcome_reason = std::move(reason);
  ledger().outcome_message = std::move(message);
  const ConditionText text = OutcomeText(now_.job, ledger());
  Note(outcome == JobState::kFailed, text.reason, text.message);
}

void LedgerDraft::WakeAt(Clock::WallTime time) {
  change_.wake_at = std::min(change_.wake_at.value_or(time), time);
}

void LedgerDraft::NextPod(LedgerReplica& entry) {
  ++entry.pod_number;
  entry.restarts_in_place = 0;
  entry.not_before.reset();
}

void LedgerDraft::Withdraw() {
  for (const ReplicaView& view : views_) {
    LedgerReplica& entry = EntryOf(view);
    if (entry.completed || entry.failed) continue;
    entry.quick_failures = 0;
    entry.not_before.reset();
    if (FindCurrentPod(view, entry).pod != nullptr) NextPod(entry);
    entry.first_pod = entry.pod_number;
  }
}

void LedgerDraft::Remember(RestartRecord record) {
  CutAt(record.message, kRestartMessageMax);
  std::vector<RestartRecord>& history = ledger().history;
  history.push_back(std::move(record));
  if (history.size() > kRestartHistoryMax) history.erase(history.begin());
}

}  // namespace taas
