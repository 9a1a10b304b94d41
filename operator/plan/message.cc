#include "operator/plan/message.h"

#include <algorithm>
#include <map>

#include "operator/plan/exit_codes.h"
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
  kUnschedulable,
  kCannotStart,
  kForeign,
};

struct Finding {
  Trouble trouble = Trouble::kNone;
  std::string sentence;  // Without the replica's name and the full stop.
};

// Waiting reasons of a container that is on its way and needs nobody.
bool IsOrdinaryWait(const std::string& reason) {
  return reason.empty() || reason == "ContainerCreating" || reason == "PodInitializing";
}

std::string WithDetail(const std::string& reason, const std::string& detail) {
  return detail.empty() ? reason : reason + ": " + detail;
}

Finding LookAtPod(const Pod& pod) {
  if (pod.phase == PodPhase::kUnknown) {
    return {Trouble::kSilentNode, "is on node " + pod.node + ", which does not answer"};
  }
  if (!IsOrdinaryWait(pod.waiting_reason)) {
    std::string text = "cannot start: " + WithDetail(pod.waiting_reason, pod.waiting_message);
    if (!pod.image.empty() && text.find(pod.image) == std::string::npos) {
      text += " (image " + pod.image + ")";
    }
    return {Trouble::kCannotStart, text};
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

Finding Look(const ReplicaView& replica, const LedgerReplica& entry, const Snapshot& snapshot) {
  if (replica.foreign != nullptr) {
    const Pod& pod = *replica.foreign;
    if (IsOfEarlierJob(pod, snapshot.job)) {
      return {Trouble::kToBeMade, "waits until the pod of an earlier job of this name is gone"};
    }
    return {Trouble::kForeign, "cannot be made: a pod " + replica.name +
                                   " exists that does not belong to this job (owner uid " +
                                   (pod.owner_uid.empty() ? "none" : pod.owner_uid) +
                                   "); delete it or rename the job"};
  }
  const CurrentPod current = FindCurrentPod(replica, entry);
  if (current.pod != nullptr && !current.gone) return LookAtPod(*current.pod);
  if (replica.pod != nullptr) {
    return {Trouble::kReplaced, "waits until its last pod is gone"};
  }
  if (entry.not_before.has_value() && *entry.not_before > snapshot.now) {
    return {Trouble::kDelayed, "failed " + std::to_string(entry.quick_failures) +
                                   " times in a row and starts again at " +
                                   FormatRfc3339(*entry.not_before)};
  }
  return {Trouble::kToBeMade, entry.pod_number > 1 ? "is started again" : "is being created"};
}

// Only the main replica and the parameter servers hold what a checkpoint would save.
bool LosesState(const ReplicaView& replica, const LedgerReplica& entry, const JobSpec& spec) {
  if (entry.pod_number < 2) return false;
  return replica.role == Role::kPs || MainReplica(spec) == std::pair(replica.role, replica.index);
}

}  // namespace

std::string WhyNoProgress(const Snapshot& snapshot, const Ledger& ledger) {
  if (ledger.outcome.has_value()) {
    return *ledger.outcome == JobState::kFailed ? ledger.outcome_message : "";
  }
  if (!snapshot.refusal.empty()) return snapshot.refusal;
  const ServiceView* service = FindService(snapshot, snapshot.job.meta.name);
  if (service != nullptr && service->owner_uid != snapshot.job.meta.uid &&
      snapshot.addresses.scheme == AddressScheme::kDns) {
    if (IsOfEarlierJob(*service, snapshot.job)) {
      return "waits until the service of an earlier job of this name is gone";
    }
    return "a service " + snapshot.job.meta.name +
           " exists that does not belong to this job, so its pods could not find each other; "
           "delete it or rename the job";
  }
  Finding worst;
  std::string worst_name;
  std::map<Trouble, int> others;
  bool loses_state = false;
  for (const ReplicaView& replica : ViewReplicas(snapshot, ledger)) {
    const LedgerReplica* entry = FindReplica(ledger, replica.role, replica.index);
    if (!replica.wanted || entry == nullptr || entry->completed) continue;
    Finding finding = Look(replica, *entry, snapshot);
    if (finding.trouble == Trouble::kNone) continue;
    loses_state = loses_state || LosesState(replica, *entry, snapshot.job.spec);
    ++others[finding.trouble];
    if (finding.trouble <= worst.trouble) continue;
    worst = std::move(finding);
    worst_name = replica.short_name;
  }
  if (worst.trouble == Trouble::kNone) {
    return snapshot.polled.has_value() ? snapshot.polled->message : "";
  }
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

}  // namespace taas
