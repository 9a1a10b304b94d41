#include "operator/plan/finish.h"

#include "operator/plan/exit_codes.h"
#include "operator/plan/restarts.h"

namespace taas {
namespace {

bool HasCompleted(const LedgerDraft& draft, const ReplicaView& view, const Pod& pod) {
  const EndRules rules = EndRulesOf(draft.spec(), view.role);
  if (HasEnded(pod)) return ClassifyEnd(pod, rules).end == End::kCompleted;
  // Its node starts it again under policy Always, though there is nothing left to do.
  return pod.restart_count > 0 && pod.last_exit_code == 0 &&
         ClassifyExit(0, "", rules).end == End::kCompleted;
}

// When the last of them ended, by its node's clock; nothing if that is not near ours or unknown.
std::optional<Clock::WallTime> FinishedAt(LedgerDraft& draft) {
  std::optional<Clock::WallTime> last;
  for (const ReplicaView& view : draft.views()) {
    if (!view.wanted || !DecidesSuccess(draft.job(), view.role, view.index)) continue;
    const Pod* pod = FindCurrentPod(view, draft.EntryOf(view)).pod;
    if (pod == nullptr || !pod->finished_at.has_value()) continue;
    if (!last.has_value() || *last < *pod->finished_at) last = pod->finished_at;
  }
  const Clock::WallTime now = draft.now().now;
  const bool near = last.has_value() && now - *last <= kFinishGrace && *last - now <= kFinishGrace;
  return near ? last : std::nullopt;
}

std::string WhoCompleted(LedgerDraft& draft) {
  std::string first;
  int32_t count = 0;
  for (const ReplicaView& view : draft.views()) {
    if (!view.wanted || !DecidesSuccess(draft.job(), view.role, view.index)) continue;
    if (++count == 1) first = view.short_name;
  }
  if (count == 1) return first + " completed";
  return first + " and " + std::to_string(count - 1) + " more completed";
}

// What is left to be said of an evaluator at the end; empty: it completed.
std::string EvaluatorsEnd(LedgerDraft& draft) {
  for (const ReplicaView& view : draft.views()) {
    if (view.role != Role::kEvaluator || !view.wanted) continue;
    const LedgerReplica& entry = draft.EntryOf(view);
    const Pod* pod = FindCurrentPod(view, entry).pod;
    if (entry.failed) {
      return "; " + view.short_name + " failed for good" +
             (pod != nullptr && HasEnded(*pod) ? ": " + DescribeEnd(*pod) : "");
    }
    if (!entry.completed) {
      return "; " + view.short_name + " did not end within " +
             std::to_string(kEvaluatorGrace.count()) + " minutes after that";
    }
  }
  return "";
}

// Of replicas that nothing waits for but the grace: that they completed is written with the
// outcome, seconds later, and not one after the other. Status tells it at once, and nothing is made
// for them meanwhile; an evaluator could be.
void LeaveCompletionsToTheOutcome(LedgerDraft& draft) {
  const std::optional<Ledger>& stored = draft.job().ledger;
  if (!stored.has_value() || !stored->finishing_since.has_value()) return;
  draft.Show();
  for (const ReplicaView& view : draft.views()) {
    if (view.role == Role::kEvaluator) continue;
    const LedgerReplica* entry = FindReplica(*stored, view.role, view.index);
    if (entry != nullptr) draft.EntryOf(view).completed = entry->completed;
  }
}

}  // namespace

void NoteCompletions(LedgerDraft& draft) {
  for (const ReplicaView& view : draft.views()) {
    LedgerReplica& entry = draft.EntryOf(view);
    const Pod* pod = FindCurrentPod(view, entry).pod;
    if (pod != nullptr && HasCompleted(draft, view, *pod)) entry.completed = true;
  }
}

bool IsFinishing(LedgerDraft& draft) {
  std::optional<Clock::WallTime>& since = draft.ledger().finishing_since;
  bool any = false;
  bool all = true;
  for (const ReplicaView& view : draft.views()) {
    if (!view.wanted || !DecidesSuccess(draft.job(), view.role, view.index)) continue;
    all = all && draft.EntryOf(view).completed;
    any = true;
  }
  if (!any || !all) {
    since.reset();  // More replicas are wanted than when it was set.
    return false;
  }
  // Whoever learns of it late has nothing to wait for but the evaluator.
  if (!since.has_value()) since = FinishedAt(draft).value_or(draft.now().now - kFinishGrace);
  return true;
}

void Finish(LedgerDraft& draft) {
  // Nothing but the evaluator is made any more, and that one at once.
  draft.ledger().pending_since.reset();
  draft.ledger().released_until.reset();
  draft.ledger().released_because.clear();
  bool others_run = false;
  bool evaluator_works = false;
  for (const ReplicaView& view : draft.views()) {
    if (view.role == Role::kEvaluator && view.wanted) {
      AdvanceReplica(draft, view);
      const LedgerReplica& entry = draft.EntryOf(view);
      evaluator_works = evaluator_works || (!entry.completed && !entry.failed);
    } else if (view.pod != nullptr && !HasEnded(*view.pod)) {
      others_run = true;
    }
  }
  const Clock::WallTime now = draft.now().now;
  const Clock::WallTime grace = *draft.ledger().finishing_since + kFinishGrace;
  const Clock::WallTime evaluation = *draft.ledger().finishing_since + kEvaluatorGrace;
  const bool waits_for_others = others_run && now < grace;
  const bool waits_for_evaluator = evaluator_works && now < evaluation;
  if (waits_for_others) draft.WakeAt(grace);
  if (waits_for_evaluator) draft.WakeAt(evaluation);
  if (waits_for_others && !waits_for_evaluator) LeaveCompletionsToTheOutcome(draft);
  if (waits_for_others || waits_for_evaluator) return;
  draft.End(JobState::kSucceeded, "Completed", WhoCompleted(draft) + EvaluatorsEnd(draft));
}

}  // namespace taas
