#include "operator/plan/ledger_draft.h"

#include <algorithm>

#include "operator/base/shorten.h"
#include "operator/plan/budget.h"
#include "operator/plan/tfjob_text.h"

namespace taas {
namespace {

// Whoever may edit a status may write any number there.
int32_t Believed(int32_t count) { return std::clamp(count, 0, kCountMax); }

// Likewise any time: a job starts after it was created, and not in the future.
Clock::WallTime Believed(Clock::WallTime start, const Snapshot& snapshot) {
  return std::min(std::max(start, snapshot.job.meta.creation_time.value_or(start)), snapshot.now);
}

void NotAfter(std::optional<Clock::WallTime>& time, Clock::WallTime last) {
  if (time.has_value()) time = std::min(*time, last);
}

// The clock of an operator that led before may have been ahead of ours: what it noted holds for no
// longer than it would have by our own.
void BelieveTimes(Ledger& ledger, Clock::WallTime now) {
  NotAfter(ledger.start_time, now);
  NotAfter(ledger.pending_since, now);
  NotAfter(ledger.finishing_since, now);
  NotAfter(ledger.released_until, now + kReleaseDelayMax);
  for (auto& [role, entries] : ledger.replicas) {
    // To the second in which the longest delay ends.
    for (auto& [index, entry] : entries) {
      NotAfter(entry.not_before, now + kRestartDelayMax + std::chrono::seconds(1));
    }
  }
  for (BadNode& node : ledger.bad_nodes) node.since = std::min(node.since, now);
}

// The ledger as it was stored; for a job without one (new, or the annotation was wiped) what status
// and pods still tell of it.
Ledger StoredOrRebuilt(const Snapshot& snapshot) {
  const Job& job = snapshot.job;
  if (job.ledger.has_value()) return *job.ledger;
  Ledger ledger;
  ledger.attempt = std::max(1, Believed(job.status.attempt));
  if (job.status.start_time.has_value()) {
    ledger.start_time = Believed(*job.status.start_time, snapshot);
  }
  ledger.suspended = job.status.state == JobState::kSuspended;
  ledger.restarts = job.status.restarts;
  for (auto& [cause, count] : ledger.restarts) count = Believed(count);
  ledger.history = job.status.history;
  if (job.status.state == JobState::kSucceeded || job.status.state == JobState::kFailed) {
    ledger.outcome = job.status.state;
    ledger.outcome_time = job.status.completion_time.value_or(snapshot.now);
    ledger.outcome_message = job.status.message;
    if (job.status.state == JobState::kSucceeded) ledger.outcome_remark = job.status.message;
    for (const Condition& condition : job.status.conditions) {
      if (condition.type != JobStateName(job.status.state)) continue;
      ledger.outcome_reason = condition.reason;
      ledger.outcome_message = condition.message;
    }
  }
  for (const Pod& pod : snapshot.pods) {
    const bool ours = pod.owner_uid == job.meta.uid && pod.job == job.meta.name;
    if (ours && IsJobToken(pod.token)) ledger.token = pod.token;
  }
  return ledger;
}

// Of the restarts that were counted more are of this pod than its node has made: its end is one.
bool EndWasCounted(const std::vector<RestartRecord>& history, const ReplicaView& view,
                   const Pod& pod) {
  const auto counted =
      std::count_if(history.begin(), history.end(), [&](const RestartRecord& record) {
        return record.role == view.role && record.index == view.index &&
               record.pod_number == pod.pod_number;
      });
  return counted > pod.restart_count;
}

// What of `restarts` was the replica's own, which restarts by its node are among them, and whether
// the end of its pod is: without this they would be charged once more, and to the training.
void RebuildCounts(const Snapshot& snapshot, const ReplicaView& view, LedgerReplica& entry) {
  const JobStatus& status = snapshot.job.status;
  if (IsDispensable(snapshot.job, view.role, view.index)) {
    entry.own_restarts = OwnRestartsIn(status.history, snapshot.job, view.role, view.index);
  }
  for (const RestartRecord& record : status.history) {
    // A pod that nobody has seen since it was counted is gone.
    const bool same = record.role == view.role && record.index == view.index;
    const bool seen = view.pod != nullptr || view.gone != nullptr;
    if (same && !seen) {
      entry.pod_number = std::max(entry.pod_number, Believed(record.pod_number) + 1);
    }
  }
  for (const Pod* pod : {view.pod, view.gone}) {
    if (pod == nullptr || pod->pod_number < entry.pod_number) continue;
    if (EndWasCounted(status.history, view, *pod)) entry.pod_number = pod->pod_number + 1;
  }
  // Where the status is lost too, none has been counted.
  const Pod* current = FindCurrentPod(view, entry).pod;
  if (current == nullptr || status.restarts.empty()) return;
  entry.restarts_in_place = current->restart_count;
}

// Replicas that were scaled away: a ledger without them would leave their pods for ever, and charge
// the training with what they used up.
void AddRetired(const Snapshot& snapshot, Ledger& ledger) {
  const Job& job = snapshot.job;
  for (const RestartRecord& record : job.status.history) {
    if (record.index >= 0) ledger.replicas[record.role][record.index];
  }
  for (const Pod& pod : snapshot.pods) {
    const bool ours = pod.owner_uid == job.meta.uid && pod.job == job.meta.name;
    if (ours && pod.role.has_value() && pod.index >= 0) ledger.replicas[*pod.role][pod.index];
  }
}

}  // namespace

// One entry per wanted replica, and never a number below that of a pod that is or was there: a
// wiped or restored annotation must not make two pods share a number.
LedgerDraft::LedgerDraft(const Snapshot& snapshot)
    : now_(snapshot), change_{.ledger = StoredOrRebuilt(snapshot)} {
  BelieveTimes(ledger(), now_.now);
  for (const auto& [role, spec] : now_.job.spec.roles) {
    for (int32_t index = 0; index < spec.replicas; ++index) ledger().replicas[role][index];
  }
  if (!now_.job.ledger.has_value()) AddRetired(now_, ledger());
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

void LedgerDraft::NoteTrouble(std::string reason, std::string message) {
  change_.notes.push_back({true, std::move(reason), std::move(message), /*recurs=*/true});
}

void LedgerDraft::End(JobState outcome, std::string reason, std::string message) {
  ledger().outcome = outcome;
  ledger().outcome_time = now_.now;
  ledger().outcome_reason = std::move(reason);
  ledger().outcome_message = Shortened(message, kLedgerTextMax);
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
  record.message = Shortened(record.message, kRestartMessageMax);
  std::vector<RestartRecord>& history = ledger().history;
  history.push_back(std::move(record));
  if (history.size() > kRestartHistoryMax) history.erase(history.begin());
}

}  // namespace taas
