#include "operator/plan/admission.h"

#include "operator/plan/exit_codes.h"
#include "operator/plan/gang.h"

namespace taas {
namespace {

bool Lives(LedgerDraft& draft, const ReplicaView& view) {
  const CurrentPod current = FindCurrentPod(view, draft.EntryOf(view));
  return current.pod != nullptr && !current.gone && !HasEnded(*current.pod);
}

// No group had this attempt's name before: one may be forgotten where the ledger was lost.
bool BeginsNow(const Job& job, const Ledger& ledger) {
  if (job.ledger.has_value()) return job.ledger->attempt != ledger.attempt;
  return !job.status.start_time.has_value();
}

}  // namespace

void FollowAdmission(LedgerDraft& draft) {
  Ledger& ledger = draft.ledger();
  if (!IsQueued(draft.now())) {
    ledger.group.reset();
    return;
  }
  int32_t wanted = 0;
  int32_t pods = 0;
  bool any_lives = false;
  for (const ReplicaView& view : draft.views()) {
    if (!view.wanted || IsSurplus(draft.job(), view.role, view.index)) continue;
    const LedgerReplica& entry = draft.EntryOf(view);
    ++wanted;
    if (!entry.completed && !entry.failed) ++pods;
    any_lives = any_lives || Lives(draft, view);
  }
  const bool formed = ledger.group.has_value() && ledger.group->attempt == ledger.attempt;
  // Also one that had failed for good and is asked for again is a pod more.
  if (formed && wanted <= ledger.group->replicas && pods <= ledger.group->pods) return;
  // Made before the operator worked with Kueue: they are in no group, so none can be full.
  if (!ledger.group.has_value() && any_lives) return;
  if (!BeginsNow(draft.job(), ledger)) ++ledger.attempt;
  if (formed) {
    draft.Note(false, "NextAttempt",
               "the job has " + std::to_string(wanted) + " replicas instead of " +
                   std::to_string(ledger.group->replicas) +
                   ", so all start again together when Kueue has admitted them");
  }
  // A pod of an earlier attempt would be missing in the new group.
  for (const ReplicaView& view : draft.views()) {
    if (view.wanted && Lives(draft, view)) draft.NextPod(draft.EntryOf(view));
  }
  ledger.group = {.attempt = ledger.attempt, .replicas = wanted, .pods = pods};
}

}  // namespace taas
