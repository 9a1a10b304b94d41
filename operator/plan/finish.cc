#include "operator/plan/finish.h"

#include <algorithm>

#include "operator/base/shorten.h"
#include "operator/plan/absent.h"
#include "operator/plan/exit_codes.h"
#include "operator/plan/restarts.h"
#include "operator/plan/trainer_report.h"

namespace taas {
namespace {

bool HasCompleted(const JobSpec& spec, const ReplicaView& view, const Pod& pod) {
  const EndRules rules = EndRulesOf(spec, view.role);
  if (HasEnded(pod)) return ClassifyEnd(pod, rules).end == End::kCompleted;
  // Its node starts it again under policy Always, though there is nothing left to do.
  return pod.restart_count > 0 && pod.last_exit_code == 0 &&
         ClassifyExit(0, "", rules).end == End::kCompleted;
}

// What comes to nothing with that is forgotten.
void Complete(LedgerReplica& entry) {
  entry.completed = true;
  entry.restarts_in_place = entry.quick_failures = 0;
  entry.not_before.reset();
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
  const std::chrono::seconds grace = FinishGrace(draft.job().spec.bundled_trainer);
  const bool near = last.has_value() && now - *last <= grace && *last - now <= grace;
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

// Why it does not even start: the scheduler finds no place for its pod, or the API server does not
// take one. Empty: it does, or will soon.
std::string WhyNoPlace(LedgerDraft& draft, const ReplicaView& view) {
  const CurrentPod current = FindCurrentPod(view, draft.EntryOf(view));
  if (current.pod == nullptr || current.gone) return draft.now().refusal;
  if (!current.pod->node.empty() || current.pod->unschedulable_reason.empty()) return "";
  const std::string& message = current.pod->unschedulable_message;
  return "it cannot be scheduled: " + current.pod->unschedulable_reason +
         (message.empty() ? "" : ": " + message);
}

// By now what the others held is free.
bool FindsNoPlace(LedgerDraft& draft, const ReplicaView& view) {
  return !WhyNoPlace(draft, view).empty() &&
         draft.now().now >= *draft.ledger().finishing_since + kPlacementGrace;
}

// What is left to be said of an evaluator at the end; empty: it completed.
std::string EvaluatorsEnd(LedgerDraft& draft) {
  if (draft.job().kind == JobKind::kTfJob) return "";  // It has its time afterwards.
  for (const ReplicaView& view : draft.views()) {
    if (view.role != Role::kEvaluator || !view.wanted) continue;
    const LedgerReplica& entry = draft.EntryOf(view);
    const Pod* pod = FindCurrentPod(view, entry).pod;
    if (entry.failed) {
      return view.short_name + " failed for good" +
             (pod != nullptr && HasEnded(*pod) ? ": " + DescribeEnd(*pod) : "");
    }
    if (!entry.completed && FindsNoPlace(draft, view)) {
      return view.short_name + " did not evaluate the last checkpoint: " +
             WhyNoPlace(draft, view);
    }
    if (!entry.completed) {
      return view.short_name + " did not end within " + std::to_string(kEvaluatorGrace.count()) +
             " minutes after that";
    }
  }
  return "";
}

// The main replica's last sentence, if it is more than that it is done: such as that nothing was
// left to train.
std::string MainReplicasRemark(LedgerDraft& draft) {
  const auto main = MainReplica(draft.spec());
  for (const ReplicaView& view : draft.views()) {
    if (!main.has_value() || std::pair(view.role, view.index) != *main) continue;
    const LedgerReplica& entry = draft.EntryOf(view);
    const Pod* pod = FindCurrentPod(view, entry).pod;
    if (pod == nullptr || !entry.completed || !HasEnded(*pod)) continue;
    std::string said = MessageOfTermination(pod->termination_message);
    return said == kDone ? "" : said;
  }
  return "";
}

// All that a success leaves to be said.
std::string RemarkOf(LedgerDraft& draft, Clock::WallTime end_of_grace) {
  const bool patient = draft.now().now >= end_of_grace;
  std::string remark;
  for (const std::string& part :
       {MainReplicasRemark(draft), TrainedWithout(draft.now(), draft.ledger(), patient),
        EvaluatorsEnd(draft)}) {
    if (!part.empty()) remark += (remark.empty() ? "" : "; ") + part;
  }
  return remark;
}

// The bundled trainer's replicas end by themselves within moments of the chief. Other programs'
// parameter servers often never do: they have their grace when the job has ended.
bool WaitsForOthers(const Job& job) {
  return job.spec.bundled_trainer && job.kind == JobKind::kTrainingJob;
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
    const LedgerReplica* before = FindReplica(*stored, view.role, view.index);
    LedgerReplica& entry = draft.EntryOf(view);
    if (before != nullptr && entry.completed && !before->completed) entry = *before;
  }
}

}  // namespace

void NoteCompletions(LedgerDraft& draft) {
  for (const ReplicaView& view : draft.views()) {
    LedgerReplica& entry = draft.EntryOf(view);
    const Pod* pod = FindCurrentPod(view, entry).pod;
    if (pod != nullptr && HasCompleted(draft.spec(), view, *pod)) Complete(entry);
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
  if (!since.has_value()) {
    const std::chrono::seconds grace = FinishGrace(draft.job().spec.bundled_trainer);
    since = FinishedAt(draft).value_or(draft.now().now - grace);
  }
  return true;
}

void Finish(LedgerDraft& draft) {
  // Nothing but the evaluator is made any more, and that one at once.
  draft.ledger().pending_since.reset();
  draft.ledger().released_until.reset();
  draft.ledger().released_because.clear();
  bool others_run = false;
  bool evaluator_works = false;
  bool unplaced = false;
  const bool tfjob = draft.job().kind == JobKind::kTfJob;
  for (const ReplicaView& view : draft.views()) {
    if (view.role == Role::kEvaluator && view.wanted && !tfjob) {
      AdvanceReplica(draft, view);
      const LedgerReplica& entry = draft.EntryOf(view);
      const bool works = !entry.completed && !entry.failed && !FindsNoPlace(draft, view);
      evaluator_works = evaluator_works || works;
      unplaced = unplaced || (works && !WhyNoPlace(draft, view).empty());
    } else if (view.pod != nullptr && !HasEnded(*view.pod) && !NeverRan(*view.pod)) {
      others_run = true;
    }
  }
  const Clock::WallTime now = draft.now().now;
  const Clock::WallTime since = *draft.ledger().finishing_since;
  const Clock::WallTime end = since + FinishGrace(draft.job().spec.bundled_trainer);
  const bool waits_for_others = WaitsForOthers(draft.job()) && others_run && now < end;
  const bool waits_for_evaluator = evaluator_works && now < since + kEvaluatorGrace;
  const bool waits = waits_for_others || waits_for_evaluator;
  if (waits && others_run && now < end) draft.WakeAt(end);
  if (waits_for_evaluator) draft.WakeAt(since + (unplaced ? kPlacementGrace : kEvaluatorGrace));
  if (waits_for_others && !waits_for_evaluator) LeaveCompletionsToTheOutcome(draft);
  if (waits) return;
  std::string remark = RemarkOf(draft, end);
  draft.ledger().outcome_remark = Shortened(remark, kLedgerTextMax);
  if (!remark.empty()) remark = "; " + remark;
  draft.End(JobState::kSucceeded, "Completed", WhoCompleted(draft) + remark);
}

LedgerChange AfterTheEnd(const Snapshot& snapshot, const Ledger& stored) {
  LedgerChange change{.ledger = stored};
  Ledger& ledger = change.ledger;
  if (ledger.outcome_time > snapshot.now + kClockSkewMax) ledger.outcome_time = snapshot.now;
  if (ledger.outcome != JobState::kSucceeded) return change;
  const Job& job = snapshot.job;
  bool news = false;
  bool some_run = false;
  for (const ReplicaView& view : ViewReplicas(snapshot, stored)) {
    const LedgerReplica* entry = FindReplica(stored, view.role, view.index);
    if (!view.wanted || entry == nullptr || entry->completed) continue;
    const CurrentPod current = FindCurrentPod(view, *entry);
    if (current.pod == nullptr || current.gone) continue;
    if (HasCompleted(job.spec, view, *current.pod)) {
      Complete(ledger.replicas[view.role][view.index]);
      news = true;
    } else if (!HasEnded(*current.pod) && snapshot.now < EndOfGrace(job, stored, view.role)) {
      some_run = true;
      const Clock::WallTime end = EndOfGrace(job, stored, view.role);
      change.wake_at = std::min(change.wake_at.value_or(end), end);
    }
  }
  // Together with those of the others, unless their pods go meanwhile.
  if (!news || !some_run || job.spec.clean_pod_policy == CleanPodPolicy::kAll) return change;
  change.shown = change.ledger;
  change.ledger.replicas = stored.replicas;
  return change;
}

Clock::WallTime EndOfGrace(const Job& job, const Ledger& ledger, Role role) {
  const Clock::WallTime end = ledger.outcome_time.value_or(Clock::WallTime());
  if (ledger.outcome != JobState::kSucceeded) return end;
  const bool evaluates = role == Role::kEvaluator;
  // The end of a TrainingJob has waited for it.
  if (evaluates && job.kind == JobKind::kTrainingJob) return end;
  const Clock::WallTime since = ledger.finishing_since.value_or(end);
  return evaluates ? since + kEvaluatorGrace : since + FinishGrace(job.spec.bundled_trainer);
}

}  // namespace taas
