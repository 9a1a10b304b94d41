// The good end of a job: the completion of those that decide it, the evaluation of the last
// checkpoint, and the graces of the others.
//
// Ownership: the draft is the caller's. Threads: one. Errors: none.
//
//   if (IsFinishing(draft)) Finish(draft);

#ifndef OPERATOR_PLAN_FINISH_H_
#define OPERATOR_PLAN_FINISH_H_

#include "operator/plan/ledger_draft.h"

namespace taas {

// Replicas that completed never run again, whatever happens to their pods.
void NoteCompletions(LedgerDraft& draft);

// True from the moment on when all have completed whose completion is the job's. Nothing but an
// evaluator starts any more.
bool IsFinishing(LedgerDraft& draft);

// Ends the job when the others have ended, or their time is over.
void Finish(LedgerDraft& draft);

}  // namespace taas

#endif  // OPERATOR_PLAN_FINISH_H_
