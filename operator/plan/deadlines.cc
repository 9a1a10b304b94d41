#include "operator/plan/deadlines.h"

#include <algorithm>

#include "operator/base/shorten.h"
#include "operator/plan/budget.h"
#include "operator/plan/exit_codes.h"
#include "operator/plan/gang.h"
#include "operator/plan/message.h"
#include "operator/plan/tfjob_text.h"

namespace taas {
namespace {

using std::chrono::seconds;

// All without which there is no training. A replica that waits for its next try after a failure
// does not wait for a node.
bool AllNeededRun(LedgerDraft& draft) {
  for (const ReplicaView& view : draft.views()) {
    const LedgerReplica& entry = draft.EntryOf(view);
    if (!view.wanted || entry.completed || entry.failed) continue;
    if (IsDispensable(draft.job(), view.role, view.index)) continue;
    if (entry.not_before.has_value() && *entry.not_before > draft.now().now) continue;
    const CurrentPod current = FindCurrentPod(view, entry);
    if (current.pod == nullptr || current.gone || current.pod->phase != PodPhase::kRunning) {
      return false;
    }
  }
  return true;
}

// A gang whose turn has not come, of which no pod has a place: a release would free nothing and
// cost it its place in the queue.
bool WaitsForItsTurn(LedgerDraft& draft) {
  bool waits = !WhyGangWaits(draft.now()).reason.empty();
  for (const ReplicaView& view : draft.views()) {
    if (view.pod == nullptr || HasStopped(*view.pod)) continue;
    if (!view.pod->node.empty()) return false;
    waits = waits || view.pod->unschedulable_reason == kSchedulingGated;
  }
  return waits;
}

void Release(LedgerDraft& draft) {
  Ledger& ledger = draft.ledger();
  const std::string& refusal = draft.now().refusal;
  ledger.released_because = Shortened(
      refusal.empty() ? WorstReplica(draft.now(), ledger) : refusal, kLedgerTextMax);
  ++ledger.releases;
  ++ledger.attempt;
  ledger.released_until = draft.now().now + ReleaseDelay(ledger.releases);
  ledger.pending_since.reset();
  draft.Withdraw();
  draft.WakeAt(*ledger.released_until);
  draft.Note(true, "PendingDeadlineExceeded",
             "not all replicas that the training needs ran within " +
                 std::to_string(*draft.spec().pending_deadline_seconds) +
                 " s, so all are released until " + FormatRfc3339(*ledger.released_until) + ": " +
                 ledger.released_because);
}

}  // namespace

void KeepActiveDeadline(LedgerDraft& draft) {
  const std::optional<int64_t> limit = draft.spec().active_deadline_seconds;
  if (!limit.has_value()) return;
  const Clock::WallTime deadline =
      *draft.ledger().start_time + std::min(seconds(*limit), kActiveDeadlineMax);
  if (draft.now().now < deadline) return draft.WakeAt(deadline);
  const std::string& refusal = draft.now().refusal;
  const std::string trouble = Shortened(
      refusal.empty() ? WorstReplica(draft.now(), draft.ledger()) : refusal, kLedgerTextMax);
  draft.ledger().outcome_remark = trouble;
  draft.End(JobState::kFailed, kDeadlineExceeded,
            "the job ran for activeDeadlineSeconds, " + std::to_string(*limit) +
                " s since its start at " + FormatRfc3339(*draft.ledger().start_time) +
                (trouble.empty() ? "" : "; at its end " + trouble));
}

bool IsReleased(const Ledger& ledger, Clock::WallTime now) {
  return ledger.released_until.has_value() && now < *ledger.released_until;
}

void KeepPendingDeadline(LedgerDraft& draft) {
  Ledger& ledger = draft.ledger();
  const Clock::WallTime now = draft.now().now;
  const std::optional<int64_t> limit = draft.spec().pending_deadline_seconds;
  if (IsReleased(ledger, now)) {
    draft.WakeAt(*ledger.released_until);
    return draft.Withdraw();  // Those that a creation under way made after the release.
  }
  ledger.released_until.reset();
  if (limit.has_value() && AllNeededRun(draft)) ledger.ran_attempt = ledger.attempt;
  // Once they have, a replica that is lost and finds no place is no reason to give up the places
  // of all the others.
  if (!limit.has_value() || ledger.ran_attempt == ledger.attempt) {
    ledger.pending_since.reset();
    ledger.releases = 0;
    ledger.released_because.clear();
    return;
  }
  if (WaitsForItsTurn(draft)) {
    ledger.pending_since.reset();
    return;
  }
  if (!ledger.pending_since.has_value()) ledger.pending_since = now;
  const Clock::WallTime deadline = *ledger.pending_since + seconds(*limit);
  if (now < deadline) return draft.WakeAt(deadline);
  Release(draft);
}

}  // namespace taas
