#include "operator/plan/ledger.h"

#include <algorithm>

#include "operator/api/dialect.h"
#include "operator/plan/admission.h"
#include "operator/plan/deadlines.h"
#include "operator/plan/exit_codes.h"
#include "operator/plan/finish.h"
#include "operator/plan/flaw.h"
#include "operator/plan/gang.h"
#include "operator/plan/ledger_draft.h"
#include "operator/plan/other_controller.h"
#include "operator/plan/pod_template.h"
#include "operator/plan/restarts.h"
#include "operator/plan/suspension.h"

namespace taas {
namespace {

// The pods of a TFJob have the replica's policy, whatever their template says.
void NoteOverwrittenPolicies(LedgerDraft& draft) {
  if (draft.job().ledger.has_value() || draft.job().kind != JobKind::kTfJob) return;
  for (const auto& [role, spec] : draft.spec().roles) {
    if (!TemplateSaysRestartPolicy(spec.pod_template)) continue;
    draft.Note(true, "SetPodTemplateRestartPolicy",
               "Restart policy in pod template overridden by restart policy in replica spec (" +
                   std::string(RoleKeyIn(draft.job(), role)) + ")");
  }
}

// A pod that another scheduler places is in no gang.
void NoteOtherSchedulers(LedgerDraft& draft) {
  const GangOptions& gang = draft.now().gang;
  if (draft.job().ledger.has_value() || !HasPodGroup(draft.now()) || gang.name.empty()) return;
  for (const auto& [role, spec] : draft.spec().roles) {
    const std::string named = TemplateScheduler(spec.pod_template);
    if (named.empty() || named == gang.name) continue;
    draft.Note(true, "SetPodTemplateSchedulerName",
               "the template of " + std::string(RoleKeyIn(draft.job(), role)) +
                   " names the scheduler " + named + ", so its pods are not placed together "
                   "with the others by " + gang.name);
  }
}

// While no pod is there, as when an attempt begins, nobody is there who does not have it: a job
// that began before there were tokens goes on without until then.
void DrawToken(LedgerDraft& draft) {
  std::string& token = draft.ledger().token;
  const bool any = std::any_of(draft.views().begin(), draft.views().end(),
                               [](const ReplicaView& view) { return view.pod != nullptr; });
  if (token.empty() && !any) token = draft.now().fresh_token;
}

void AssignPorts(LedgerDraft& draft) {
  const Snapshot& now = draft.now();
  if (now.addresses.scheme != AddressScheme::kLoopback) return;
  size_t next = 0;
  for (const ReplicaView& view : draft.views()) {
    LedgerReplica& entry = draft.EntryOf(view);
    if (!view.wanted || entry.completed || entry.failed || entry.port != 0) continue;
    if (next + 2 > now.free_ports.size()) {
      draft.AddWantedPorts(2);
      continue;
    }
    entry.port = now.free_ports[next++];
    entry.status_port = now.free_ports[next++];
  }
  // Those that were there are wanted again: the caller asks once for all.
  if (draft.ports_wanted() > 0) draft.AddWantedPorts(static_cast<int32_t>(next));
}

// A pod knows the main replica by the address it was started with, the main replica's pod by the
// same annotation its own. When that has changed (a new port, or a wiped ledger gave all of them
// new ones) the pod is of no use any more, through no fault of its own: it is replaced and no cause
// is counted.
void FollowMainReplica(LedgerDraft& draft, const std::pair<Role, int32_t>& main) {
  const Snapshot& now = draft.now();
  if (now.addresses.scheme != AddressScheme::kLoopback || draft.ports_wanted() > 0) return;
  const AddressBook addresses(now.job, draft.ledger(), now.addresses);
  const std::string bootstrap = addresses.Cluster(main.first, main.second);
  for (const ReplicaView& view : draft.views()) {
    LedgerReplica& entry = draft.EntryOf(view);
    if (!view.wanted || entry.completed || entry.failed) continue;
    const CurrentPod current = FindCurrentPod(view, entry);
    if (current.pod == nullptr || current.gone || HasEnded(*current.pod)) continue;
    if (current.pod->bootstrap != bootstrap) draft.NextPod(entry);
  }
}

void AdvanceReplicas(LedgerDraft& draft) {
  if (IsReleased(draft.ledger(), draft.now().now)) return;
  for (const ReplicaView& view : draft.views()) {
    if (!draft.ended()) AdvanceReplica(draft, view);
  }
}

LedgerChange Advance(LedgerDraft& draft) {
  draft.ledger().taken_over = TakenOver(draft.now());
  NoteOverwrittenPolicies(draft);
  NoteOtherSchedulers(draft);
  NoteCompletions(draft);
  const bool finishing = IsFinishing(draft);
  // One that has what it was for while it is suspended ends when it is resumed.
  if ((!finishing || draft.ledger().suspended) && FollowSuspend(draft)) {
    draft.ledger().finishing_since.reset();
    return draft.Take();
  }
  if (finishing) {
    Finish(draft);
  } else {
    KeepActiveDeadline(draft);
    if (!draft.ended()) AdvanceReplicas(draft);
    if (!draft.ended()) KeepPendingDeadline(draft);
    if (!draft.ended()) FollowAdmission(draft);
  }
  if (!draft.ended()) {
    DrawToken(draft);
    AssignPorts(draft);
    FollowMainReplica(draft, *MainReplica(draft.spec()));
  }
  return draft.Take();
}

}  // namespace

LedgerChange AdvanceLedger(const Snapshot& snapshot) {
  const std::optional<Ledger>& stored = snapshot.job.ledger;
  // Final: not even replicas that somebody asks for afterwards are added.
  if (stored.has_value() && stored->outcome.has_value()) return AfterTheEnd(snapshot, *stored);
  LedgerDraft draft(snapshot);
  if (draft.ended()) return draft.Take();
  const std::optional<Flaw> flaw = FindFlaw(draft);
  if (!flaw.has_value()) return Advance(draft);
  if (!stored.has_value()) {
    draft.End(JobState::kFailed, flaw->reason, flaw->message);
    return draft.Take();
  }
  // An edit does not end a job that has begun: what runs goes on, and the edit can be taken back.
  const Snapshot begun = AsBegun(snapshot);
  if (!MainReplica(begun.job.spec).has_value()) return {.ledger = *stored, .flaw = flaw->message};
  LedgerDraft as_begun(begun);
  LedgerChange change = Advance(as_begun);
  change.flaw = flaw->message;
  return change;
}

std::chrono::seconds RestartDelay(int32_t quick_failures) {
  if (quick_failures < 2) return std::chrono::seconds(0);
  const int32_t doublings = std::min(quick_failures - 2, 16);  // 2^16 s is past the limit.
  return std::min(kRestartDelayMax, std::chrono::seconds(int64_t{1} << doublings));
}

std::chrono::seconds ReleaseDelay(int32_t releases) {
  const int32_t doublings = std::clamp(releases - 1, 0, 16);  // Past the limit, as above.
  return std::min(kReleaseDelayMax, kReleaseDelay * (int64_t{1} << doublings));
}

}  // namespace taas
