#include "operator/plan/restarts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "operator/api/dialect.h"
#include "operator/plan/bad_nodes.h"
#include "operator/plan/budget.h"
#include "operator/plan/exit_codes.h"
#include "operator/plan/memory_limit.h"
#include "operator/plan/tfjob_text.h"

namespace taas {
namespace {

using Cause = std::optional<RestartCause>;

// Restarts by the node that one look counts: a node makes fewer in a day, so more are nonsense.
constexpr int32_t kCountedInPlaceMax = 1000;
// What kubelets call the end of a container that used more memory than it may.
constexpr char kOomKilled[] = "OOMKilled";
// The reason of the condition DisruptionTarget, with which a pod's message then begins.
constexpr char kPreemptedByScheduler[] = "PreemptionByScheduler";

// Of the main container, or of the init container that has failed before it.
std::optional<int32_t> ExitCodeOf(const Pod& pod) {
  if (pod.exit_code.has_value() || pod.init == nullptr) return pod.exit_code;
  return pod.init->exit_code;
}

// What ended: a pod, or a run of the container of a pod that stays.
struct Ending {
  const ReplicaView& view;
  const Pod& pod;
  bool in_place = false;
  std::optional<int32_t> exit_code;
  std::string why;
  Cause cause;  // Nothing: it is not counted.
};

void FailForGood(LedgerDraft& draft, const ReplicaView& view, std::string reason,
                 std::string message) {
  LedgerReplica& entry = draft.EntryOf(view);
  entry.failed = true;
  entry.not_before.reset();
  if (!IsDispensable(draft.job(), view.role, view.index)) {
    draft.End(JobState::kFailed, std::move(reason), std::move(message));
    return;
  }
  draft.Note(true, std::move(reason), message + "; the job goes on without it");
}

// Whoever gives up while the main replica has no pod that has started has waited for that one: the
// user has not erred.
bool WaitedForMainReplica(LedgerDraft& draft, const ReplicaView& replica,
                          const std::optional<int32_t>& exit_code) {
  const auto main = MainReplica(draft.spec());
  if (exit_code != kExitRestartMe || std::pair(replica.role, replica.index) == main) return false;
  for (const ReplicaView& view : draft.views()) {
    if (std::pair(view.role, view.index) != main) continue;
    if (draft.EntryOf(view).completed) return false;  // It will not come.
    return view.pod == nullptr || view.pod->phase == PodPhase::kPending;
  }
  return true;
}

// Readers of TFJobs' events look for this whatever follows.
void NoteExit(LedgerDraft& draft, const Ending& ending) {
  const Job& job = draft.job();
  if (job.kind != JobKind::kTfJob || ending.in_place || !ending.exit_code.has_value()) return;
  draft.Note(false, "ExitedWithCode",
             "Pod: " + job.meta.ns + "." + ending.pod.meta.name + " exited with code " +
                 std::to_string(*ending.exit_code));
}

// "" for the first failure, else " again after 2 restarts by user error"; where `view` was not
// among those, whose the last was.
std::string AgainAfter(int32_t restarts, const Job& job, const Ledger& ledger,
                       const ReplicaView& view) {
  if (restarts == 0) return "";
  std::string out = " again after " + std::to_string(restarts) +
                    (restarts == 1 ? " restart" : " restarts") + " by " +
                    (job.kind == JobKind::kTfJob ? "failure" : "user error");
  if (OwnRestartsIn(ledger.history, job, view.role, view.index) > 0) return out;
  for (auto record = ledger.history.rbegin(); record != ledger.history.rend(); ++record) {
    if (!CountsForBudget(job.kind, record->cause)) continue;
    return out + " (of the whole job: the last was of " +
           std::string(RoleNameIn(job, record->role)) + "-" + std::to_string(record->index) + ")";
  }
  return out;
}

// True: one more restart is too many, and the replica has failed for good.
bool BreaksBudget(LedgerDraft& draft, const Ending& ending) {
  const Job& job = draft.job();
  const ReplicaView& view = ending.view;
  if (!CountsForBudget(job.kind, *ending.cause)) return false;
  if (!IsLastTry(job, draft.ledger(), view.role, view.index)) return false;
  const int32_t used = UsedBudget(job, draft.ledger(), view.role, view.index);
  NoteExit(draft, ending);
  FailForGood(draft, view, kBackoffLimitExceeded,
              view.short_name + " failed" + AgainAfter(used, job, draft.ledger(), view) +
                  ", and backoffLimit is " + std::to_string(*job.spec.backoff_limit) + ": " +
                  ending.why);
  return true;
}

void Record(LedgerDraft& draft, const Ending& ending) {
  if (!ending.cause.has_value()) return;
  ++draft.ledger().restarts[*ending.cause];
  const bool own = IsDispensable(draft.job(), ending.view.role, ending.view.index);
  if (own && CountsForBudget(draft.job().kind, *ending.cause)) {
    ++draft.EntryOf(ending.view).own_restarts;
  }
  draft.Remember({.role = ending.view.role,
                  .index = ending.view.index,
                  .attempt = draft.ledger().attempt,
                  .pod_number = ending.pod.pod_number,
                  .cause = *ending.cause,
                  .exit_code = ending.exit_code,
                  .message = ending.why,
                  .node = ending.pod.node,
                  .time = draft.now().now});
}

void DelayNext(LedgerDraft& draft, LedgerReplica& entry, const Pod& pod) {
  const bool long_run = pod.started_at.has_value() && pod.finished_at.has_value() &&
                        *pod.finished_at - *pod.started_at >= kQuickFailure;
  entry.quick_failures = long_run ? 0 : std::min(entry.quick_failures + 1, kQuickFailuresMax);
  const auto delay = RestartDelay(entry.quick_failures);
  if (delay.count() == 0) return;
  // A whole second: there may be thousands of these in a ledger.
  entry.not_before = std::chrono::ceil<std::chrono::seconds>(draft.now().now + delay);
}

// restartScope Job: all start again together, but for those that are done and for the evaluator,
// which only reads what training leaves behind.
void RestartOthers(LedgerDraft& draft, const ReplicaView& first) {
  ++draft.ledger().attempt;
  const std::optional<Clock::WallTime> not_before = draft.EntryOf(first).not_before;
  for (const ReplicaView& view : draft.views()) {
    LedgerReplica& entry = draft.EntryOf(view);
    const bool same = view.role == first.role && view.index == first.index;
    if (same || !view.wanted || entry.completed || entry.failed) continue;
    if (view.role == Role::kEvaluator) continue;
    draft.NextPod(entry);
    entry.not_before = not_before;
  }
}

// A node that is bad for one replica is so for the others.
void AvoidNode(LedgerDraft& draft, const std::string& node) {
  if (node.empty()) return;
  std::vector<BadNode>& nodes = draft.ledger().bad_nodes;
  std::erase_if(nodes, [&](const BadNode& bad) {
    return bad.name == node || IsForgiven(bad, draft.now().now);
  });
  nodes.push_back({.name = node, .since = draft.now().now});
  if (nodes.size() > kBadNodesMax) nodes.erase(nodes.begin());
}

void NoteRestart(LedgerDraft& draft, const Ending& ending) {
  const LedgerReplica& entry = draft.EntryOf(ending.view);
  const Job& job = draft.job();
  if (ending.cause == RestartCause::kOutOfMemory) {
    draft.NoteTrouble("OOMKilled", ending.view.short_name + " ran out of memory: " + ending.why);
  }
  if (job.kind == JobKind::kTfJob) {
    NoteExit(draft, ending);
    const ConditionText text = TfJobRestarting(job, ending.view.role);
    return draft.Note(true, text.reason, text.message);
  }
  const std::string cause = ending.cause.has_value() ? std::string(RestartCauseName(*ending.cause))
                                                     : "not counted";
  const std::string what =
      ending.in_place ? " was started again by its node ("
                      : " gets pod " + std::to_string(entry.pod_number) + " (";
  draft.Note(true, "Restarting", ending.view.short_name + what + cause + "): " + ending.why);
}

void Restart(LedgerDraft& draft, const Ending& ending) {
  if (ending.cause.has_value() && BreaksBudget(draft, ending)) return;
  Record(draft, ending);
  LedgerReplica& entry = draft.EntryOf(ending.view);
  draft.NextPod(entry);
  // A pod that was taken away while it ran says nothing about the next one; one that its node
  // turned away does, for the next would be turned away as fast as it is made.
  const bool taken_away = ending.cause == RestartCause::kPreempted &&
                          !ending.pod.finished_at.has_value() && !WasTurnedAway(ending.pod);
  if (!taken_away) DelayNext(draft, entry, ending.pod);
  if (ending.cause == RestartCause::kBadNode) AvoidNode(draft, ending.pod.node);
  if (ending.pod.exit_code == kExitRestartMe) entry.port = entry.status_port = 0;
  const bool all = draft.spec().restart_scope == RestartScope::kJob && ending.cause.has_value() &&
                   ending.view.role != Role::kEvaluator &&
                   !draft.ledger().finishing_since.has_value();
  if (all) RestartOthers(draft, ending.view);
  NoteRestart(draft, ending);
}

// By whom a pod was taken away that has not ended by itself.
std::string WhyTakenAway(const Pod& pod) {
  // Who deletes a pod by hand leaves no words.
  if (!pod.disrupted || pod.message.empty()) return "its pod was deleted or drained";
  if (pod.message.str().starts_with(kPreemptedByScheduler)) {
    return "its pod was preempted by the scheduler for one of higher priority";
  }
  return "its pod was taken away: " + pod.message.str();
}

// Restarts by the node since the last look. Only the newest end is known, so it speaks for all.
void CountRestartsInPlace(LedgerDraft& draft, const ReplicaView& view, const Pod& pod) {
  LedgerReplica& entry = draft.EntryOf(view);
  entry.not_before.reset();  // It was that of this pod, which is there.
  const LastRun last = LastRunOf(pod);
  Ending ending{.view = view,
                .pod = pod,
                .in_place = true,
                .exit_code = last.exit_code,
                .why = DescribeLastRun(pod)};
  if (!last.of_init && last.reason == kOomKilled) {
    ending.why += HowToRaiseMemory(draft.job(), view.role);
  }
  if (last.of_init || !WaitedForMainReplica(draft, view, last.exit_code)) {
    EndRules rules = EndRulesOf(draft.spec(), view.role);
    if (last.of_init) rules = OfInitContainer(std::move(rules));
    if (last.exit_code.has_value()) {
      ending.cause = ClassifyExit(*last.exit_code, last.reason, rules).cause;
    }
  }
  const int32_t first = std::max(entry.restarts_in_place, pod.restart_count - kCountedInPlaceMax);
  for (entry.restarts_in_place = first; entry.restarts_in_place < pod.restart_count;) {
    if (ending.cause.has_value() && BreaksBudget(draft, ending)) return;
    Record(draft, ending);
    ++entry.restarts_in_place;
  }
  const bool port_taken = draft.now().addresses.scheme == AddressScheme::kLoopback &&
                          last.exit_code == kExitRestartMe && !last.of_init;
  if (!port_taken || HasEnded(pod) || pod.meta.deletion_time.has_value()) {
    return NoteRestart(draft, ending);
  }
  // Its node would start it with the same ports again; that it ended is counted above.
  Restart(draft, {.view = view,
                  .pod = pod,
                  .exit_code = {},
                  .why = ending.why + " (it gets other ports)",
                  .cause = {}});
  entry.port = entry.status_port = 0;
}

void TakeEnd(LedgerDraft& draft, const ReplicaView& view, const Pod& pod) {
  const Verdict verdict = ClassifyEnd(pod, EndRulesOf(draft.spec(), view.role));
  Ending ending{.view = view,
                .pod = pod,
                .exit_code = ExitCodeOf(pod),
                .why = DescribeEnd(pod),
                .cause = verdict.cause};
  const bool by_itself =
      verdict.end == End::kPermanent || verdict.cause == RestartCause::kUserError;
  if (by_itself && WaitedForMainReplica(draft, view, pod.exit_code)) {
    ending.cause.reset();
    ending.why += " (it waited for the main replica, which does not run)";
    return Restart(draft, ending);
  }
  if (pod.exit_reason == kOomKilled) ending.why += HowToRaiseMemory(draft.job(), view.role);
  if (verdict.end == End::kPermanent) {
    NoteExit(draft, ending);
    return FailForGood(draft, view, kReplicaFailed,
                       view.short_name + " failed for good: " + ending.why);
  }
  Restart(draft, ending);
}

}  // namespace

void AdvanceReplica(LedgerDraft& draft, const ReplicaView& view) {
  LedgerReplica& entry = draft.EntryOf(view);
  const auto [pod, gone] = FindCurrentPod(view, entry);
  if (entry.completed) return;
  if (!view.wanted) {
    // Retired: the pod of the old number goes, none of the new one is made.
    // Should it come back, that is no restart.
    if (pod != nullptr) draft.NextPod(entry);
    entry.first_pod = entry.pod_number;
    entry.quick_failures = 0;
    entry.not_before.reset();
    entry.failed = false;
    return;
  }
  if (entry.failed || pod == nullptr) return;
  if (entry.restarts_in_place < pod->restart_count) CountRestartsInPlace(draft, view, *pod);
  if (draft.ended() || entry.failed || entry.pod_number != pod->pod_number) return;
  if (HasEnded(*pod)) {
    TakeEnd(draft, view, *pod);
  } else if (pod->node_lost) {
    Restart(draft, {.view = view,
                    .pod = *pod,
                    .exit_code = {},
                    .why = "its node " + pod->node + " is lost",
                    .cause = RestartCause::kNodeLost});
  } else if (gone || pod->meta.deletion_time.has_value()) {
    Restart(draft, {.view = view,
                    .pod = *pod,
                    .exit_code = {},
                    .why = WhyTakenAway(*pod),
                    .cause = RestartCause::kPreempted});
  }
}

}  // namespace taas
