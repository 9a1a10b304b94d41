#include "operator/plan/message.h"

#include <algorithm>
#include <map>

#include "operator/plan/conditions.h"
#include "operator/plan/exit_codes.h"
#include "operator/plan/gang.h"
#include "operator/plan/limits.h"
#include "operator/plan/replicas.h"

namespace taas {
namespace {

// From bad to worse: a person has to act on the later ones.
enum class Trouble {
  kNone,
  kStarting,
  kToBeMade,
  kReplaced,
  kDelayed,
  kSilentNode,
  kCrashing,
  kUnschedulable,
  kCannotStart,
  kForeign,
};

struct Finding {
  Trouble trouble = Trouble::kNone;
  std::string sentence;  // Without the replica's name and the full stop.
};

// Of an object in our way, whose owner may be a job of the other kind.
std::string NotOurs(const std::string& kind, const std::string& uid) {
  if (uid.empty()) return "does not belong to this job (owner: none)";
  return "does not belong to this job (owner: " + (kind.empty() ? "unknown" : kind) + ", uid " +
         uid + ")";
}

std::string WithDetail(const std::string& reason, const std::string& detail) {
  return detail.empty() ? reason : reason + ": " + detail;
}

Finding LookAtPod(const Pod& pod) {
  if (pod.phase == PodPhase::kUnknown || pod.node_silent) {
    return {Trouble::kSilentNode, "is on node " + pod.node + ", which does not answer"};
  }
  if (pod.waiting_reason == "CrashLoopBackOff") {
    return {Trouble::kCrashing, "fails again and again: CrashLoopBackOff after " +
                                    std::to_string(pod.restart_count) + " restarts, the last " +
                                    DescribeLastRun(pod)};
  }
  if (!IsOrdinaryWait(pod.waiting_reason)) {
    std::string text = "cannot start: " + WithDetail(pod.waiting_reason, pod.waiting_message);
    if (!pod.image.empty() && text.find(pod.image) == std::string::npos) {
      text += " (image " + pod.image + ")";
    }
    return {Trouble::kCannotStart, text};
  }
  if (pod.unschedulable_reason == kSchedulingGated) {
    return {Trouble::kStarting, pod.held_by_kueue ? "waits until Kueue admits the job"
                                                  : "waits behind a scheduling gate"};
  }
  if (!pod.unschedulable_reason.empty()) {
    return {Trouble::kUnschedulable,
            "cannot be scheduled: " +
                WithDetail(pod.unschedulable_reason, pod.unschedulable_message)};
  }
  if (pod.phase == PodPhase::kPending) {
    return {Trouble::kStarting, pod.node.empty() ? "waits for a node" : "is starting"};
  }
  return {};
}

// "; the last time: exit code 1: …", or nothing if nobody remembers.
std::string LastFailure(const Ledger& ledger, const ReplicaView& replica) {
  for (auto last = ledger.history.rbegin(); last != ledger.history.rend(); ++last) {
    if (last->role != replica.role || last->index != replica.index) continue;
    return last->message.empty() ? "" : "; the last time: " + last->message;
  }
  return "";
}

Finding Look(const ReplicaView& replica, const LedgerReplica& entry, const Snapshot& snapshot,
             const Ledger& ledger) {
  if (replica.foreign != nullptr) {
    const Pod& pod = *replica.foreign;
    if (IsOfEarlierJob(pod, snapshot.job)) {
      return {Trouble::kToBeMade, "waits until the pod of an earlier job of this name is gone"};
    }
    if (pod.owner_uid == snapshot.job.meta.uid && snapshot.job.kind == JobKind::kTfJob) {
      return {Trouble::kForeign, "cannot be made: another controller made the pod " +
                                     replica.name +
                                   " for this job; stop it and start this operator with --adopt"};
    }
    if (pod.owner_uid == snapshot.job.meta.uid) {
      return {Trouble::kForeign, "cannot be made: the pod " + replica.name +
                                     " has lost the label " + std::string(kJobLabel) +
                                     "; delete it, or give it the job's name again"};
    }
    return {Trouble::kForeign, "cannot be made: the pod " + replica.name + " " +
                                   NotOurs(pod.owner_kind, pod.owner_uid) +
                                   "; delete it or rename the job"};
  }
  const ServiceView* service = FindService(snapshot, replica.name);
  if (HasServicePerReplica(snapshot.job, snapshot.addresses) && service != nullptr &&
      service->owner_uid != snapshot.job.meta.uid) {
    if (IsOfEarlierJob(*service, snapshot.job)) {
      return {Trouble::kToBeMade, "waits until the service of an earlier job of this name is gone"};
    }
    return {Trouble::kForeign, "cannot be made: the service " + replica.name +
                                   " " + NotOurs(service->owner_kind, service->owner_uid) +
                                   "; delete it or rename the job"};
  }
  const CurrentPod current = FindCurrentPod(replica, entry);
  if (current.pod != nullptr && !current.gone) return LookAtPod(*current.pod);
  if (replica.pod != nullptr) {
    const Pod& last = *replica.pod;
    std::string text = "waits until its last pod is gone";
    if (last.node_lost) text += " from node " + last.node + ", which does not answer";
    return {last.node_lost ? Trouble::kSilentNode : Trouble::kReplaced, text};
  }
  if (entry.not_before.has_value() && *entry.not_before > snapshot.now) {
    return {Trouble::kDelayed, "failed " + std::to_string(entry.quick_failures) +
                                   " times in a row and starts again at " +
                                   FormatRfc3339(*entry.not_before) +
                                   LastFailure(ledger, replica)};
  }
  return {Trouble::kToBeMade, entry.pod_number > 1 ? "is started again" : "is being created"};
}

// Only the main replica and the parameter servers hold what a checkpoint would save.
bool LosesState(const ReplicaView& replica, const LedgerReplica& entry, const JobSpec& spec) {
  if (entry.pod_number < 2 || !spec.bundled_trainer) return false;
  return replica.role == Role::kPs || MainReplica(spec) == std::pair(replica.role, replica.index);
}

// Why no pod can be made that the others would find; empty: nothing is in the way.
std::string LookAtJobService(const Snapshot& snapshot) {
  const std::string& name = snapshot.job.meta.name;
  const ServiceView* service = FindService(snapshot, name);
  if (service == nullptr || service->owner_uid == snapshot.job.meta.uid ||
      snapshot.addresses.scheme != AddressScheme::kDns ||
      HasServicePerReplica(snapshot.job, snapshot.addresses)) {
    return "";
  }
  if (IsOfEarlierJob(*service, snapshot.job)) {
    return "waits until the service of an earlier job of this name is gone";
  }
  return "the service " + name + " " + NotOurs(service->owner_kind, service->owner_uid) +
         ", so the job's pods could not find each other; delete it or rename the job";
}

// No replica needs a place that a scheduler would have to find.
bool AllArePlaced(const Snapshot& snapshot, const Ledger& ledger) {
  for (const ReplicaView& replica : ViewReplicas(snapshot, ledger)) {
    const LedgerReplica* entry = FindReplica(ledger, replica.role, replica.index);
    if (!replica.wanted || entry == nullptr || entry->completed || entry->failed) continue;
    const CurrentPod current = FindCurrentPod(replica, *entry);
    if (current.pod == nullptr || current.gone || current.pod->node.empty()) return false;
  }
  return true;
}

std::string SuspendField(const Job& job) {
  return job.kind == JobKind::kTfJob ? "spec.runPolicy.suspend" : "spec.suspend";
}

std::string PendingDeadlineField(const Job& job) {
  return job.kind == JobKind::kTfJob ? std::string(kPendingDeadlineAnnotation)
                                     : "pendingDeadlineSeconds";
}

// The job has what it was for, and somebody is still at work.
std::string WhyNotFinished(const Snapshot& snapshot, const Ledger& ledger) {
  for (const ReplicaView& replica : ViewReplicas(snapshot, ledger)) {
    const LedgerReplica* entry = FindReplica(ledger, replica.role, replica.index);
    if (replica.role != Role::kEvaluator || !replica.wanted || entry == nullptr) continue;
    if (entry->completed || entry->failed) continue;
    const Finding finding = Look(replica, *entry, snapshot, ledger);
    const std::string until = FormatRfc3339(*ledger.finishing_since + kEvaluatorGrace);
    if (finding.trouble == Trouble::kNone) {
      return "training is done; " + replica.short_name +
             " still evaluates the last checkpoint, until " + until + " at the latest";
    }
    return "training is done; " + replica.short_name + ", which has until " + until +
           " to evaluate the last checkpoint, " + finding.sentence;
  }
  return "training is done; the other replicas have " + std::to_string(kFinishGrace.count()) +
         " s to end";
}

// An evaluator that failed for good: training goes on without it, but nobody should wonder.
std::string LostEvaluator(const Snapshot& snapshot, const Ledger& ledger) {
  for (const ReplicaView& replica : ViewReplicas(snapshot, ledger)) {
    const LedgerReplica* entry = FindReplica(ledger, replica.role, replica.index);
    if (replica.role != Role::kEvaluator || entry == nullptr || !entry->failed) continue;
    const Pod* pod = FindCurrentPod(replica, *entry).pod;
    return replica.short_name + " failed for good" +
           (pod != nullptr && HasEnded(*pod) ? ": " + DescribeEnd(*pod) : "") +
           "; training goes on without it";
  }
  return "";
}

}  // namespace

std::string WorstReplica(const Snapshot& snapshot, const Ledger& ledger) {
  Finding worst;
  std::string worst_name;
  std::map<Trouble, int> others;
  bool loses_state = false;
  for (const ReplicaView& replica : ViewReplicas(snapshot, ledger)) {
    const LedgerReplica* entry = FindReplica(ledger, replica.role, replica.index);
    if (!replica.wanted || entry == nullptr || entry->completed || entry->failed) continue;
    Finding finding = Look(replica, *entry, snapshot, ledger);
    if (finding.trouble == Trouble::kNone) continue;
    loses_state = loses_state || LosesState(replica, *entry, snapshot.job.spec);
    ++others[finding.trouble];
    if (finding.trouble <= worst.trouble) continue;
    worst = std::move(finding);
    worst_name = replica.short_name;
  }
  if (worst.trouble == Trouble::kNone) return "";
  std::string text = worst_name;
  if (const int more = others[worst.trouble] - 1; more > 0) {
    text += " (and " + std::to_string(more) + " more)";
  }
  text += " " + worst.sentence;
  if (loses_state && snapshot.job.spec.trainer.checkpoint_dir.empty()) {
    text += "; spec.trainer.checkpoint.dir is not set, so training starts from the beginning";
  }
  return text;
}

namespace {

std::string WorstOf(const Snapshot& snapshot, const Ledger& ledger) {
  const Job& job = snapshot.job;
  if (ledger.outcome.has_value()) {
    return *ledger.outcome == JobState::kFailed ? ledger.outcome_message : "";
  }
  if (ledger.suspended) {
    return "the job is suspended; it goes on when " + SuspendField(job) + " is false";
  }
  if (!snapshot.refusal.empty()) return snapshot.refusal;
  if (ledger.finishing_since.has_value()) return WhyNotFinished(snapshot, ledger);
  if (ledger.released_until.has_value() && snapshot.now < *ledger.released_until) {
    return "all replicas are released until " + FormatRfc3339(*ledger.released_until) +
           ", because not all of them ran within " + PendingDeadlineField(job) + ": " +
           ledger.released_because;
  }
  if (const std::string no_gang = WhyNoGang(snapshot).message; !no_gang.empty()) {
    if (!AllArePlaced(snapshot, ledger)) return no_gang;
  }
  std::string why = WhyGangWaits(snapshot).message;
  if (!why.empty() && AllArePlaced(snapshot, ledger)) why.clear();
  if (why.empty()) why = LookAtJobService(snapshot);
  if (why.empty()) why = WorstReplica(snapshot, ledger);
  if (why.empty() && snapshot.polled.has_value()) why = snapshot.polled->message;
  return why.empty() ? LostEvaluator(snapshot, ledger) : why;
}

}  // namespace

std::string WhyNoProgress(const Snapshot& snapshot, const Ledger& ledger) {
  const std::string worst = WorstOf(snapshot, ledger);
  // Fields without effect may be why: of a program that was not started as its user wrote, or of a
  // pod that waits for another node than meant. A job that runs well may not be what was asked for.
  const TemplateWarning warning = TemplateWarningOf(snapshot);
  if (!warning.of_fields || ledger.outcome == JobState::kSucceeded) return worst;
  return worst.empty() ? warning.text : worst + "; " + warning.text;
}

}  // namespace taas
