#include "operator/plan/ledger.h"

#include <algorithm>

#include "operator/api/defaults.h"
#include "operator/plan/exit_codes.h"
#include "operator/plan/replicas.h"
#include "operator/plan/tf_config.h"

namespace taas {
namespace {

// The ledger as it was stored; for a job without one (new, or the annotation was wiped) what status
// and pods still tell of it.
Ledger StoredOrRebuilt(const Snapshot& snapshot) {
  const Job& job = snapshot.job;
  if (job.ledger.has_value()) return *job.ledger;
  Ledger ledger;
  ledger.attempt = std::max(1, job.status.attempt);
  ledger.restarts = job.status.restarts;
  if (job.status.state == JobState::kSucceeded || job.status.state == JobState::kFailed) {
    ledger.outcome = job.status.state;
    ledger.outcome_time = job.status.completion_time.value_or(snapshot.now);
    ledger.outcome_message = job.status.message;
    for (const Condition& condition : job.status.conditions) {
      if (condition.type != JobStateName(job.status.state)) continue;
      ledger.outcome_reason = condition.reason;
      ledger.outcome_message = condition.message;
    }
  }
  return ledger;
}

class Advance {
 public:
  explicit Advance(const Snapshot& snapshot)
      : now_(snapshot), change_{.ledger = StoredOrRebuilt(snapshot)} {}

  LedgerChange Run() {
    AddReplicas();
    if (ledger().outcome.has_value()) return std::move(change_);
    if (RefuseImpossible()) return std::move(change_);
    const auto main = MainReplica(now_.job.spec);
    NoteCompletions();
    if (FindReplica(ledger(), main->first, main->second)->completed) {
      Finish(*main);
    } else {
      for (const ReplicaView& view : views_) {
        if (!ledger().outcome.has_value()) AdvanceReplica(view);
      }
    }
    if (!ledger().outcome.has_value()) {
      AssignPorts();
      FollowMainReplica(*main);
    }
    return std::move(change_);
  }

 private:
  Ledger& ledger() { return change_.ledger; }
  LedgerReplica& EntryOf(const ReplicaView& view) {
    return ledger().replicas[view.role][view.index];
  }

  void Note(bool warning, std::string reason, std::string message) {
    change_.notes.push_back({warning, std::move(reason), std::move(message)});
  }

  void End(JobState outcome, std::string reason, std::string message) {
    ledger().outcome = outcome;
    ledger().outcome_time = now_.now;
    Note(outcome == JobState::kFailed, reason, message);
    ledger().outcome_reason = std::move(reason);
    ledger().outcome_message = std::move(message);
  }

  // One entry per wanted replica, and never a number below that of a pod that is or was there: a
  // wiped or restored annotation must not make two pods share a number.
  void AddReplicas() {
    for (const auto& [role, spec] : now_.job.spec.roles) {
      for (int32_t index = 0; index < spec.replicas; ++index) ledger().replicas[role][index];
    }
    views_ = ViewReplicas(now_, ledger());
    for (const ReplicaView& view : views_) {
      LedgerReplica& entry = EntryOf(view);
      for (const Pod* pod : {view.pod, view.gone}) {
        if (pod != nullptr) entry.pod_number = std::max(entry.pod_number, pod->pod_number);
      }
    }
  }

  bool RefuseImpossible() {
    const Job& job = now_.job;
    if (!MainReplica(job.spec).has_value()) {
      End(JobState::kFailed, "InvalidSpec",
          "spec.roles has neither a chief nor a worker, so nothing would train: add one");
      return true;
    }
    for (const ReplicaView& view : views_) {
      if (view.wanted && view.name.size() > size_t{kMaxDnsLabel}) {
        End(JobState::kFailed, "NameTooLong",
            "the pod name " + view.name + " has " + std::to_string(view.name.size()) +
                " characters and a hostname has at most " + std::to_string(kMaxDnsLabel) +
                ": give the job a shorter name");
        return true;
      }
    }
    const AddressBook addresses(job, ledger(), now_.addresses);
    const auto main = MainReplica(job.spec);
    const auto tf_config = TfConfig(job, addresses, main->first, main->second);
    if (!tf_config.ok()) {
      End(JobState::kFailed, "TooManyReplicas", std::string(tf_config.status().message()));
      return true;
    }
    return false;
  }

  void NoteCompletions() {
    for (const ReplicaView& view : views_) {
      LedgerReplica& entry = EntryOf(view);
      const Pod* pod = FindCurrentPod(view, entry).pod;
      if (pod == nullptr || !HasEnded(*pod)) continue;
      if (ClassifyEnd(*pod).end == taas::End::kCompleted) entry.completed = true;
    }
  }

  // The job has what it was for. Nothing starts any more; the rest may end by itself, for a while.
  void Finish(const std::pair<Role, int32_t>& main) {
    std::optional<Clock::WallTime> finished_at;
    bool all_ended = true;
    for (const ReplicaView& view : views_) {
      if (view.pod != nullptr && !HasEnded(*view.pod)) all_ended = false;
      if (std::pair(view.role, view.index) != main) continue;
      const Pod* pod = FindCurrentPod(view, EntryOf(view)).pod;
      if (pod != nullptr) finished_at = pod->finished_at;
    }
    // The node's clock may be off; a time that is not near ours does not count.
    const bool in_grace = finished_at.has_value() && now_.now - *finished_at < kFinishGrace &&
                          *finished_at - now_.now < kFinishGrace;
    if (!all_ended && in_grace) {
      change_.wake_at = *finished_at + kFinishGrace;
      return;
    }
    End(JobState::kSucceeded, "Completed",
        std::string(RoleName(main.first)) + "-" + std::to_string(main.second) + " completed");
  }

  void AdvanceReplica(const ReplicaView& view) {
    LedgerReplica& entry = EntryOf(view);
    const auto [pod, gone] = FindCurrentPod(view, entry);
    if (entry.completed || pod == nullptr) return;
    if (!view.wanted) {
      ++entry.pod_number;  // Retired: the pod of the old number goes, none of the new one is made.
      return;
    }
    if (HasEnded(*pod)) {
      const Verdict verdict = ClassifyEnd(*pod);
      if (verdict.end == taas::End::kPermanent) {
        End(JobState::kFailed, "ReplicaFailed",
            view.short_name + " failed for good: " + DescribeEnd(*pod));
      } else if (verdict.cause == RestartCause::kUserError && WaitedForMainReplica(view)) {
        Restart(view, entry, *pod, std::nullopt, DescribeEnd(*pod));
      } else {
        Restart(view, entry, *pod, verdict.cause, DescribeEnd(*pod));
      }
    } else if (pod->reason == "NodeLost") {
      Restart(view, entry, *pod, RestartCause::kNodeLost, "its node " + pod->node + " is lost");
    } else if (gone || pod->meta.deletion_time.has_value()) {
      Restart(view, entry, *pod, RestartCause::kPreempted, "its pod was deleted or drained");
    }
  }

  // Whoever gives up while the main replica has no pod that has started has waited for that one:
  // the user has not erred.
  bool WaitedForMainReplica(const ReplicaView& replica) const {
    const auto main = MainReplica(now_.job.spec);
    if (std::pair(replica.role, replica.index) == main) return false;
    for (const ReplicaView& view : views_) {
      if (std::pair(view.role, view.index) != main) continue;
      return view.pod == nullptr || view.pod->phase == PodPhase::kPending;
    }
    return true;
  }

  // Without a cause nothing is counted.
  void Restart(const ReplicaView& view, LedgerReplica& entry, const Pod& pod,
               std::optional<RestartCause> cause, const std::string& why) {
    if (cause.has_value()) {
      int32_t& count = ledger().restarts[*cause];
      const std::optional<int32_t> limit = now_.job.spec.backoff_limit;
      if (cause == RestartCause::kUserError && limit.has_value() && count >= *limit) {
        End(JobState::kFailed, "BackoffLimitExceeded",
            view.short_name + " failed again after " + std::to_string(count) +
                " restarts by user error, and backoffLimit is " +
                std::to_string(*limit) + ": " + why);
        return;
      }
      ++count;
    }
    ++entry.pod_number;
    entry.not_before.reset();
    // A pod that was taken away while it ran says nothing about the next one.
    const bool taken_away = cause == RestartCause::kPreempted && !pod.finished_at.has_value();
    if (!taken_away) DelayNext(entry, pod);
    if (cause == RestartCause::kBadNode && !pod.node.empty()) {
      std::erase(entry.avoid_nodes, pod.node);
      entry.avoid_nodes.push_back(pod.node);
      if (entry.avoid_nodes.size() > kAvoidNodesMax) {
        entry.avoid_nodes.erase(entry.avoid_nodes.begin());
      }
    }
    if (pod.exit_code == kExitRestartMe) entry.port = entry.status_port = 0;
    Note(true, "Restarting",
         view.short_name + " gets pod " + std::to_string(entry.pod_number) + " (" +
             (cause.has_value() ? std::string(RestartCauseName(*cause))
                                : "not counted, the main replica does not run") +
             "): " + why);
  }

  void DelayNext(LedgerReplica& entry, const Pod& pod) {
    const bool long_run = pod.started_at.has_value() && pod.finished_at.has_value() &&
                          *pod.finished_at - *pod.started_at >= kQuickFailure;
    entry.quick_failures = long_run ? 0 : entry.quick_failures + 1;
    const auto delay = RestartDelay(entry.quick_failures);
    if (delay.count() > 0) entry.not_before = now_.now + delay;
  }

  void AssignPorts() {
    if (now_.addresses.scheme != AddressScheme::kLoopback) return;
    size_t next = 0;
    for (const ReplicaView& view : views_) {
      LedgerReplica& entry = EntryOf(view);
      if (!view.wanted || entry.completed || entry.port != 0) continue;
      if (next + 2 > now_.free_ports.size()) {
        change_.ports_wanted += 2;
        continue;
      }
      entry.port = now_.free_ports[next++];
      entry.status_port = now_.free_ports[next++];
    }
    // Those that were there are wanted again: the caller asks once for all.
    if (change_.ports_wanted > 0) change_.ports_wanted += static_cast<int32_t>(next);
  }

  // A pod knows the main replica by the address it was started with, the main replica's pod by the
  // same annotation its own. When that has changed (a new port, or a wiped ledger gave all of them
  // new ones) the pod is of no use any more, through no fault of its own: it is replaced and no
  // cause is counted.
  void FollowMainReplica(const std::pair<Role, int32_t>& main) {
    if (now_.addresses.scheme != AddressScheme::kLoopback || change_.ports_wanted > 0) return;
    const AddressBook addresses(now_.job, ledger(), now_.addresses);
    const std::string bootstrap = addresses.Cluster(main.first, main.second);
    for (const ReplicaView& view : views_) {
      LedgerReplica& entry = EntryOf(view);
      if (!view.wanted || entry.completed) continue;
      const CurrentPod current = FindCurrentPod(view, entry);
      if (current.pod == nullptr || current.gone || HasEnded(*current.pod)) continue;
      if (current.pod->bootstrap != bootstrap) ++entry.pod_number;
    }
  }

  const Snapshot& now_;
  LedgerChange change_;
  std::vector<ReplicaView> views_;
};

}  // namespace

LedgerChange AdvanceLedger(const Snapshot& snapshot) { return Advance(snapshot).Run(); }

std::chrono::seconds RestartDelay(int32_t quick_failures) {
  if (quick_failures < 2) return std::chrono::seconds(0);
  const int32_t doublings = std::min(quick_failures - 2, 16);  // 2^16 s is past the limit.
  return std::min(kRestartDelayMax, std::chrono::seconds(int64_t{1} << doublings));
}

}  // namespace taas
