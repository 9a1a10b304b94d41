// The good end of a job: the completion of those that decide it, the evaluation of the last
// checkpoint, and the graces of the others.
//
// Ownership: the draft is the caller's. Threads: one. Errors: none.
//
//   if (IsFinishing(draft)) Finish(draft);
//   if (now < EndOfGrace(job, ledger, role)) LetRun(pod);

#ifndef OPERATOR_PLAN_FINISH_H_
#define OPERATOR_PLAN_FINISH_H_

#include "operator/plan/ledger_draft.h"

namespace taas {

// Replicas that completed never run again, whatever happens to their pods.
void NoteCompletions(LedgerDraft& draft);

// True from the moment on when all have completed whose completion is the job's. Nothing but an
// evaluator starts any more.
bool IsFinishing(LedgerDraft& draft);

// Ends the job: a TFJob at once, as its users know it; a TrainingJob when its evaluator has ended
// or its time is over and, with the bundled trainer, when the others have ended, or theirs is.
void Finish(LedgerDraft& draft);

// Of a job that has ended: who completes in the grace that is left has completed. The outcome
// stays.
LedgerChange AfterTheEnd(const Snapshot& snapshot, const Ledger& stored);

// When a pod of this role that still runs goes, at the end of a job that has succeeded.
Clock::WallTime EndOfGrace(const Job& job, const Ledger& ledger, Role role);

}  // namespace taas

#endif  // OPERATOR_PLAN_FINISH_H_
