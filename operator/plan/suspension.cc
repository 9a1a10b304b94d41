#include "operator/plan/suspension.h"

#include "operator/plan/tfjob_text.h"

namespace taas {
namespace {

void NoteChange(LedgerDraft& draft, const ConditionText& tfjob, const char* reason,
                const char* message) {
  if (draft.job().kind == JobKind::kTfJob) return draft.Note(false, tfjob.reason, tfjob.message);
  draft.Note(false, reason, message);
}

}  // namespace

bool FollowSuspend(LedgerDraft& draft) {
  Ledger& ledger = draft.ledger();
  if (draft.spec().suspend) {
    if (!ledger.suspended) {
      ledger.suspended = true;
      ledger.pending_since.reset();
      ledger.released_until.reset();
      ledger.released_because.clear();
      ledger.releases = 0;
      NoteChange(draft, TfJobSuspended(draft.job()), "Suspended",
                 "all pods are deleted until the job is resumed");
    }
    // Also those that a creation under way makes after this.
    draft.Withdraw();
    return true;
  }
  if (ledger.suspended) {
    ledger.suspended = false;
    if (ledger.start_time.has_value()) ++ledger.attempt;
    ledger.start_time = draft.now().now;
    draft.Withdraw();
    NoteChange(draft, TfJobResumed(draft.job()), "Resumed", "the job begins its next attempt");
  }
  if (!ledger.start_time.has_value()) ledger.start_time = draft.now().now;
  return false;
}

}  // namespace taas
