// The next ledger while it is being made out of the stored one.
//
// Each subject (restarts, deadlines, suspension, the end) has functions of its own over this draft;
// ledger.cc calls them in their order.
//
// Ownership: the snapshot outlives it. Threads: one. Errors: none.
//
//   LedgerDraft draft(snapshot);
//   for (const ReplicaView& view : draft.views()) AdvanceReplica(draft, view);
//   return draft.Take();

#ifndef OPERATOR_PLAN_LEDGER_DRAFT_H_
#define OPERATOR_PLAN_LEDGER_DRAFT_H_

#include <string>
#include <vector>

#include "operator/plan/ledger.h"
#include "operator/plan/replicas.h"

namespace taas {

class LedgerDraft {
 public:
  // The stored ledger (or, for a job without one, what status and pods still tell) with an entry
  // for every wanted replica.
  explicit LedgerDraft(const Snapshot& snapshot);

  const Snapshot& now() const { return now_; }
  const Job& job() const { return now_.job; }
  const JobSpec& spec() const { return now_.job.spec; }
  Ledger& ledger() { return change_.ledger; }
  bool ended() const { return change_.ledger.outcome.has_value(); }
  const std::vector<ReplicaView>& views() const { return views_; }
  LedgerReplica& EntryOf(const ReplicaView& view) {
    return ledger().replicas[view.role][view.index];
  }

  void Note(bool warning, std::string reason, std::string message);
  // Of what may come again and again: told once in a while, and counted.
  void NoteTrouble(std::string reason, std::string message);
  void End(JobState outcome, std::string reason, std::string message);
  void WakeAt(Clock::WallTime time);
  void AddWantedPorts(int32_t ports) { change_.ports_wanted += ports; }
  int32_t ports_wanted() const { return change_.ports_wanted; }
  // What the pod of the old number was is forgotten; it is deleted and none counts its end.
  void NextPod(LedgerReplica& entry);
  // Every pod that there is goes, through no fault of its own; completed replicas keep theirs.
  void Withdraw();
  // Status tells what the ledger says now, whatever is taken back of it.
  void Show() { change_.shown = change_.ledger; }
  // The newest restarts are kept.
  void Remember(RestartRecord record);

  LedgerChange Take() { return std::move(change_); }

 private:
  const Snapshot& now_;
  LedgerChange change_;
  std::vector<ReplicaView> views_;
};

}  // namespace taas

#endif  // OPERATOR_PLAN_LEDGER_DRAFT_H_
