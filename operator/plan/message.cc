#include "operator/plan/message.h"

#include <algorithm>
#include <map>

#include "operator/plan/absent.h"
#include "operator/plan/budget.h"
#include "operator/plan/conditions.h"
#include "operator/plan/exit_codes.h"
#include "operator/plan/gang.h"
#include "operator/plan/idle_gpus.h"
#include "operator/plan/limits.h"
#include "operator/plan/replicas.h"
#include "operator/plan/template_mark.h"

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
  std::string reason{};  // Where a person may have to see to it: of its pod or container.
  const Pod* pod = nullptr;  // Of the snapshot, of which this is said.
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

constexpr std::string_view kCrashLoop = "CrashLoopBackOff";

// "fails again and again: CrashLoopBackOff after 3 restarts"
std::string Crashing(int32_t restarts) {
  const std::string reason(kCrashLoop);
  if (restarts < 1) return "failed: " + reason;
  if (restarts == 1) return "failed again: " + reason + " after 1 restart";
  return "fails again and again: " + reason + " after " + std::to_string(restarts) + " restarts";
}

std::string WithImage(std::string text, const std::string& image) {
  if (!image.empty() && text.find(image) == std::string::npos) text += " (image " + image + ")";
  return text;
}

// Of a pod that has not come to its main container yet.
Finding LookAtInit(const InitContainer& init, const Pod& pod) {
  const std::string last = init.last_exit_code.has_value() ? ", the last: " + DescribeLastRun(pod)
                                                           : "";
  if (init.waiting_reason == kCrashLoop) {
    return {Trouble::kCrashing, Crashing(init.restart_count) + last, init.waiting_reason};
  }
  if (!IsOrdinaryWait(init.waiting_reason)) {
    return {Trouble::kCannotStart,
            WithImage("cannot start its init container " + init.name + ": " +
                          WithDetail(init.waiting_reason, init.waiting_message),
                      init.image),
            init.waiting_reason};
  }
  if (!init.running) return {Trouble::kStarting, "is starting" + last};
  return {Trouble::kStarting, "runs its init container " + init.name + last};
}

Finding LookAtPod(const Pod& pod) {
  if (pod.phase == PodPhase::kUnknown || pod.node_silent) {
    return {Trouble::kSilentNode, "is on node " + pod.node + ", which does not answer"};
  }
  if (pod.waiting_reason == kCrashLoop) {
    return {Trouble::kCrashing,
            Crashing(pod.restart_count) + ", the last " + DescribeLastRun(pod),
            pod.waiting_reason};
  }
  if (!IsOrdinaryWait(pod.waiting_reason)) {
    return {Trouble::kCannotStart,
            WithImage("cannot start: " + WithDetail(pod.waiting_reason, pod.waiting_message),
                      pod.image),
            pod.waiting_reason};
  }
  if (pod.unschedulable_reason == kSchedulingGated) {
    return {Trouble::kStarting, pod.held_by_kueue ? "waits until Kueue admits the job"
                                                  : "waits behind a scheduling gate"};
  }
  if (!pod.unschedulable_reason.empty()) {
    return {Trouble::kUnschedulable,
            "cannot be scheduled: " +
                WithDetail(pod.unschedulable_reason, pod.unschedulable_message),
            pod.unschedulable_reason};
  }
  if (pod.init != nullptr && !pod.node.empty()) return LookAtInit(*pod.init, pod);
  if (pod.phase == PodPhase::kPending) {
    return {Trouble::kStarting, pod.node.empty() ? "waits for a node" : "is starting"};
  }
  return {};
}

// "2 times"; there may have been more.
std::string Times(int32_t failures) {
  const std::string count = std::to_string(failures) + " times";
  return failures < kQuickFailuresMax ? count : "at least " + count;
}

// "; the last time: exit code 1: …", or nothing if nobody remembers.
std::string LastFailure(const Ledger& ledger, const ReplicaView& replica) {
  for (auto last = ledger.history.rbegin(); last != ledger.history.rend(); ++last) {
    if (last->role != replica.role || last->index != replica.index) continue;
    return last->message.empty() ? "" : "; the last time: " + last->message;
  }
  return "";
}

// What waits for room or an image is not helped by a template that has been mended since; nor does
// a pod that was made from the new one find the room that others still hold.
std::string WithTemplate(const Finding& finding, TemplateChange& change) {
  const bool no_room = finding.trouble == Trouble::kUnschedulable;
  if (finding.pod == nullptr || (!no_room && finding.trouble != Trouble::kCannotStart)) {
    return finding.sentence;
  }
  std::string note;
  if (change.IsOld(*finding.pod)) {
    note = "Its pod is of the template before the last change: `kubectl delete pod " +
           finding.pod->meta.name + "` has it made anew";
  } else if (const int64_t holds = no_room ? change.HoldsMore() : 0; holds > 0) {
    note = std::to_string(holds) + (holds == 1 ? " pod" : " pods") +
           " of the job still " + (holds == 1 ? "holds" : "hold") +
           " what the template before the last change asked for: `kubectl delete pod` has them "
           "made anew";
  } else {
    return finding.sentence;
  }
  return finding.sentence + (finding.sentence.ends_with('.') ? " " : ". ") + note;
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
  if (current.pod != nullptr && !current.gone) {
    Finding finding = LookAtPod(*current.pod);
    finding.pod = current.pod;
    return finding;
  }
  if (replica.pod != nullptr) {
    const Pod& last = *replica.pod;
    std::string text = "waits until its last pod is gone";
    if (last.node_lost) text += " from node " + last.node + ", which does not answer";
    return {last.node_lost ? Trouble::kSilentNode : Trouble::kReplaced, text};
  }
  if (entry.not_before.has_value() && *entry.not_before > snapshot.now) {
    return {Trouble::kDelayed, "failed " + Times(entry.quick_failures) +
                                   " in a row and starts again at " +
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
    TemplateChange change(snapshot);
    const std::string until = FormatRfc3339(*ledger.finishing_since + kEvaluatorGrace);
    if (finding.trouble == Trouble::kNone) {
      return "training is done; " + replica.short_name +
             " still evaluates the last checkpoint, until " + until + " at the latest";
    }
    return "training is done; " + replica.short_name + ", which has until " + until +
           " to evaluate the last checkpoint, " + WithTemplate(finding, change);
  }
  return "training is done; the other replicas have " +
         std::to_string(FinishGrace(snapshot.job.spec.bundled_trainer).count()) + " s to end";
}

// A replica without which training goes on and that failed for good: nobody should wonder.
std::string LostDispensable(const Snapshot& snapshot, const Ledger& ledger) {
  for (const ReplicaView& replica : ViewReplicas(snapshot, ledger)) {
    const LedgerReplica* entry = FindReplica(ledger, replica.role, replica.index);
    if (entry == nullptr || !entry->failed || !replica.wanted) continue;
    if (!IsDispensable(snapshot.job, replica.role, replica.index)) continue;
    const Pod* pod = FindCurrentPod(replica, *entry).pod;
    return replica.short_name + " failed for good" +
           (pod != nullptr && HasEnded(*pod) ? ": " + DescribeEnd(*pod) : "") +
           "; training goes on without it";
  }
  return "";
}

}  // namespace

namespace {

// The words of a pull that fails and of the wait before the next one take turns.
std::string CauseOf(const std::string& reason) {
  const bool pull = reason == "ErrImagePull" || reason == "ImagePullBackOff";
  return pull ? "ImagePull" : reason;
}

// "worker-1 (and 2 more)"
std::string Named(const std::string& first, int count) {
  return count == 1 ? first : first + " (and " + std::to_string(count - 1) + " more)";
}

// Of the replicas that are hindered the first of each cause speaks for the others.
class Hindrances {
 public:
  void Add(const ReplicaView& replica, const Finding& finding) {
    if (finding.reason.empty()) return;
    const auto [found, is_new] = causes_.try_emplace(CauseOf(finding.reason));
    if (is_new) found->second = {.name = replica.short_name, .finding = finding};
    ++found->second.count;
  }
  std::vector<Hindrance> Take(TemplateChange& change) const {
    std::vector<Hindrance> out;
    for (const auto& [cause, first] : causes_) {
      out.push_back({.cause = cause,
                     .reason = first.finding.reason,
                     .message = Named(first.name, first.count) + " " +
                                WithTemplate(first.finding, change)});
    }
    return out;
  }

 private:
  struct First {
    std::string name;
    Finding finding;
    int count = 0;
  };
  std::map<std::string, First> causes_;
};

// `change`: null leaves out what it says. Only of the findings that are used it is asked, as those
// of all replicas are many.
std::string FindWorst(const Snapshot& snapshot, const Ledger& ledger, TemplateChange* change,
                      std::vector<Hindrance>* hindrances) {
  Finding worst;
  std::string worst_name;
  bool dispensable = false;
  std::map<Trouble, int> others;
  bool loses_state = false;
  Hindrances all;
  for (const ReplicaView& replica : ViewReplicas(snapshot, ledger)) {
    const LedgerReplica* entry = FindReplica(ledger, replica.role, replica.index);
    if (!replica.wanted || entry == nullptr || entry->completed || entry->failed) continue;
    Finding finding = Look(replica, *entry, snapshot, ledger);
    if (finding.trouble == Trouble::kNone) continue;
    if (hindrances != nullptr) all.Add(replica, finding);
    loses_state = loses_state || LosesState(replica, *entry, snapshot.job.spec);
    ++others[finding.trouble];
    if (finding.trouble <= worst.trouble) continue;
    worst = std::move(finding);
    worst_name = replica.short_name;
    dispensable = IsDispensable(snapshot.job, replica.role, replica.index);
  }
  if (hindrances != nullptr) *hindrances = all.Take(*change);
  if (worst.trouble == Trouble::kNone) return "";
  std::string text = Named(worst_name, others[worst.trouble]) + " " +
                     (change == nullptr ? worst.sentence : WithTemplate(worst, *change));
  if (dispensable && worst.trouble >= Trouble::kCrashing) text += "; training does not wait for it";
  if (loses_state && snapshot.job.spec.trainer.checkpoint_dir.empty()) {
    text += "; spec.trainer.checkpoint.dir is not set, so training starts from the beginning";
  }
  return text;
}

}  // namespace

std::string WhyPodWaits(const Pod& pod) { return LookAtPod(pod).sentence; }

std::string WorstReplica(const Snapshot& snapshot, const Ledger& ledger) {
  return FindWorst(snapshot, ledger, /*change=*/nullptr, /*hindrances=*/nullptr);
}

namespace {

// What is in the way of some is not in the way of the training, where it goes on without them.
std::string WithAbsent(std::string why, const Snapshot& snapshot, const Ledger& ledger) {
  const std::string without = GoesOnWithout(snapshot, ledger);
  return without.empty() ? why : why + "; " + without;
}

std::string WorstOf(const Snapshot& snapshot, const Ledger& ledger,
                    std::vector<Hindrance>* hindrances) {
  const Job& job = snapshot.job;
  if (ledger.outcome.has_value()) {
    const bool failed = *ledger.outcome == JobState::kFailed;
    return failed ? ledger.outcome_message : ledger.outcome_remark;
  }
  if (ledger.suspended) {
    return "the job is suspended; it goes on when " + SuspendField(job) + " is false";
  }
  TemplateChange change(snapshot);
  const std::string worst = FindWorst(snapshot, ledger, &change, hindrances);
  if (!snapshot.refusal.empty()) return WithAbsent(snapshot.refusal, snapshot, ledger);
  if (ledger.finishing_since.has_value()) return WhyNotFinished(snapshot, ledger);
  if (ledger.released_until.has_value() && snapshot.now < *ledger.released_until) {
    return "all replicas are released until " + FormatRfc3339(*ledger.released_until) +
           ", because not all that the training needs ran within " + PendingDeadlineField(job) +
           ": " + ledger.released_because;
  }
  if (const std::string no_gang = WhyNoGang(snapshot).message; !no_gang.empty()) {
    if (!AllArePlaced(snapshot, ledger)) return no_gang;
  }
  std::string why = WhyGangWaits(snapshot).message;
  if (!why.empty() && AllArePlaced(snapshot, ledger)) why.clear();
  if (why.empty()) why = LookAtJobService(snapshot);
  if (why.empty() && !worst.empty()) why = WithAbsent(worst, snapshot, ledger);
  if (why.empty() && snapshot.polled.has_value()) why = snapshot.polled->message;
  if (why.empty()) why = LostDispensable(snapshot, ledger);
  return why.empty() ? WhyGpusIdle(snapshot, ledger) : why;
}

void AddIdleGpus(const Snapshot& snapshot, const Ledger& ledger,
                 std::vector<Hindrance>& hindrances) {
  const std::string why = WhyGpusIdle(snapshot, ledger);
  if (!why.empty()) hindrances.push_back({.cause = kGpusIdle, .reason = kGpusIdle, .message = why});
}

}  // namespace

std::string WhyNoProgress(const Snapshot& snapshot, const Ledger& ledger,
                          std::vector<Hindrance>* hindrances) {
  const std::string worst = WorstOf(snapshot, ledger, hindrances);
  if (hindrances != nullptr) AddIdleGpus(snapshot, ledger, *hindrances);
  // Fields without effect may be why: of a program that was not started as its user wrote, or of a
  // pod that waits for another node than meant. A job that runs well may not be what was asked for.
  const TemplateWarning warning = TemplateWarningOf(snapshot);
  if (!warning.of_fields || ledger.outcome == JobState::kSucceeded) return worst;
  return worst.empty() ? warning.text : worst + "; " + warning.text;
}

}  // namespace taas
