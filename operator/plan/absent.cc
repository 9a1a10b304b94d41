#include "operator/plan/absent.h"

#include <utility>

#include "operator/plan/replicas.h"
#include "operator/plan/tally.h"

namespace taas {
namespace {

// Of more a sentence would be a list.
constexpr size_t kNamedMax = 3;

bool HasBegun(const Pod& pod) {
  return pod.phase != PodPhase::kPending || pod.started_at.has_value() ||
         pod.exit_code.has_value() || pod.last_exit_code.has_value() || pod.restart_count > 0;
}

std::string Joined(const std::string& reason, const std::string& message) {
  return message.empty() ? reason : reason + ": " + message;
}

// In the scheduler's or the node's own words.
std::string WhyItNeverRan(const Pod& pod) {
  if (!pod.unschedulable_message.empty()) return pod.unschedulable_message;
  if (!pod.unschedulable_reason.empty()) return pod.unschedulable_reason;
  if (pod.node.empty()) return "no node was found for it";
  if (!IsOrdinaryWait(pod.waiting_reason)) return Joined(pod.waiting_reason, pod.waiting_message);
  if (pod.init != nullptr && !IsOrdinaryWait(pod.init->waiting_reason)) {
    return Joined(pod.init->waiting_reason, pod.init->waiting_message);
  }
  return "it was still starting on node " + pod.node;
}

}  // namespace

bool HasServers(const JobSpec& spec) {
  const auto servers = spec.roles.find(Role::kPs);
  return servers != spec.roles.end() && servers->second.replicas > 0;
}

bool IsCore(const JobSpec& spec, Role role, int32_t index) {
  return role == Role::kPs || MainReplica(spec) == std::pair(role, index);
}

bool NeverRan(const Pod& pod) {
  if (HasBegun(pod)) return false;
  const bool stuck = pod.init != nullptr && !IsOrdinaryWait(pod.init->waiting_reason);
  return pod.node.empty() || stuck || !IsOrdinaryWait(pod.waiting_reason);
}

std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  const size_t shown = names.size() <= kNamedMax ? names.size() : kNamedMax - 1;
  for (size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == names.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + names[i];
  }
  if (shown < names.size()) text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

std::string GoesOnWithout(const Snapshot& snapshot, const Ledger& ledger) {
  const JobSpec& spec = snapshot.job.spec;
  if (!spec.bundled_trainer || !HasServers(spec) || ledger.finishing_since.has_value()) return "";
  if (!CountReplicas(snapshot, ledger).core_there) return "";
  std::vector<std::string> absent;
  for (const ReplicaView& replica : ViewReplicas(snapshot, ledger)) {
    const LedgerReplica* entry = FindReplica(ledger, replica.role, replica.index);
    if (replica.role != Role::kWorker || !replica.wanted || entry == nullptr) continue;
    if (entry->completed || entry->failed) continue;
    const CurrentPod current = FindCurrentPod(replica, *entry);
    const bool refused = current.pod == nullptr || current.gone;
    if (refused ? !snapshot.refusal.empty() : NeverRan(*current.pod)) {
      absent.push_back(replica.short_name);
    }
  }
  return absent.empty() ? "" : "training goes on without " + Listed(absent);
}

std::string TrainedWithout(const Snapshot& snapshot, const Ledger& ledger, bool patient) {
  std::vector<std::string> absent;
  std::string why;
  for (const ReplicaView& replica : ViewReplicas(snapshot, ledger)) {
    const LedgerReplica* entry = FindReplica(ledger, replica.role, replica.index);
    if (replica.role == Role::kEvaluator || !replica.wanted || entry == nullptr) continue;
    // Of one that was made again some earlier pod may have run.
    if (entry->completed || entry->failed || entry->pod_number > entry->first_pod) continue;
    const Pod* pod = FindCurrentPod(replica, *entry).pod;
    const bool worker = replica.role == Role::kWorker;
    if (pod == nullptr ? !worker || snapshot.refusal.empty()
                       : !NeverRan(*pod) && (!patient || HasBegun(*pod))) {
      continue;
    }
    if (absent.empty()) why = pod == nullptr ? snapshot.refusal : WhyItNeverRan(*pod);
    absent.push_back(replica.short_name);
  }
  if (absent.empty()) return "";
  // A release made them anew, and before it they may have run.
  const bool released = ledger.attempt > 1;
  return "trained without " + Listed(absent) + ", which never ran" +
         (released ? " in this attempt" : "") + (why.empty() ? "" : ": " + why);
}

}  // namespace taas
