#include "operator/plan/conditions.h"

#include <algorithm>
#include <utility>

#include "operator/plan/gang.h"
#include "operator/plan/tfjob_text.h"

namespace taas {
namespace {

// Those that the status has. Anybody may have written a time there that is still to come.
std::vector<Condition> Before(const Snapshot& snapshot) {
  std::vector<Condition> conditions = snapshot.job.status.conditions;
  for (Condition& condition : conditions) {
    condition.last_transition_time = std::min(condition.last_transition_time, snapshot.now);
    if (condition.last_update_time > snapshot.now) condition.last_update_time = snapshot.now;
  }
  return conditions;
}

// Of a TrainingJob.
class Conditions {
 public:
  explicit Conditions(const Snapshot& snapshot)
      : snapshot_(snapshot), conditions_(Before(snapshot)) {}

  bool Has(std::string_view type) {
    return std::any_of(conditions_.begin(), conditions_.end(),
                       [&](const Condition& c) { return c.type == type; });
  }
  void Set(std::string_view type, bool status, std::string reason, std::string message) {
    auto found = std::find_if(conditions_.begin(), conditions_.end(),
                              [&](const Condition& c) { return c.type == type; });
    if (found == conditions_.end()) {
      conditions_.push_back({.type = std::string(type)});
      found = std::prev(conditions_.end());
      found->last_transition_time = snapshot_.now;
    } else if (found->status != status) {
      found->last_transition_time = snapshot_.now;
    }
    found->status = status;
    found->reason = std::move(reason);
    found->message = std::move(message);
    found->observed_generation = snapshot_.job.meta.generation;
  }
  std::vector<Condition> Take() { return std::move(conditions_); }

 private:
  const Snapshot& snapshot_;
  std::vector<Condition> conditions_;
};

constexpr char kRefusedReason[] = "Refused";
constexpr char kFieldsIgnored[] = "FieldsIgnored";
constexpr char kServerWarned[] = "ServerWarned";

const char* ReasonOf(const TemplateWarning& warning) {
  return warning.of_fields ? kFieldsIgnored : kServerWarned;
}

// Before all others, of which a TFJob's last one is its state.
void PutFirst(const Snapshot& snapshot, std::string_view type, const std::string& reason,
              const std::string& why, std::vector<Condition>* conditions) {
  Condition put{.type = std::string(type), .status = true, .reason = reason, .message = why,
                .last_transition_time = snapshot.now, .last_update_time = snapshot.now};
  for (const Condition& before : Before(snapshot)) {
    if (before.type != type || !before.status) continue;
    put.last_transition_time = before.last_transition_time;
    if (before.reason == reason && before.message == why) put = before;
  }
  std::erase_if(*conditions, [type](const Condition& other) { return other.type == type; });
  conditions->insert(conditions->begin(), std::move(put));
}

std::vector<Condition> OfTrainingJob(const Snapshot& snapshot, const Ledger& ledger,
                                     const Tally& tally, const JobStatus& status) {
  Conditions conditions(snapshot);
  const TemplateWarning warning = TemplateWarningOf(snapshot);
  if (warning.text.empty()) {
    conditions.Set("Created", true, "Accepted", "The job was accepted");
  } else {
    conditions.Set("Created", true, ReasonOf(warning), warning.text);
  }
  if (!ledger.outcome.has_value() && !ledger.suspended) {
    const GangTrouble no_gang = WhyNoGang(snapshot);
    const GangTrouble gang = no_gang.reason.empty() ? WhyGangWaits(snapshot) : no_gang;
    if (tally.unscheduled > 0 && !snapshot.refusal.empty()) {
      conditions.Set("Scheduled", false, kRefusedReason, snapshot.refusal);
    } else if (tally.unscheduled > 0 && !gang.reason.empty()) {
      conditions.Set("Scheduled", false, gang.reason, gang.message);
    } else if (tally.unscheduled == 0) {
      conditions.Set("Scheduled", true, "AllScheduled", "All replicas have a node");
    } else {
      conditions.Set("Scheduled", false, "WaitingForNodes",
                     std::to_string(tally.unscheduled) + " of " + std::to_string(tally.desired) +
                         " replicas have no node yet, the first is " + tally.first_unscheduled);
    }
  }
  if (ledger.suspended) {
    conditions.Set("Suspended", true, "Suspended", "All pods are deleted until the job is resumed");
  } else if (conditions.Has("Suspended")) {
    conditions.Set("Suspended", false, "Resumed", "The job was resumed");
  }
  const bool running = status.state == JobState::kRunning;
  const bool restarting = status.state == JobState::kRestarting;
  if (ledger.outcome.has_value()) {
    conditions.Set("Running", false, "JobEnded", "The job has ended");
  } else if (running) {
    conditions.Set("Running", true, "ReplicasRun", status.ready + " replicas run");
  } else if (ledger.suspended) {
    conditions.Set("Running", false, "Suspended", "The job is suspended");
  } else {
    conditions.Set("Running", false, restarting ? "ReplicasRestart" : "ReplicasStart",
                   status.ready + " replicas run");
  }
  if (restarting) {
    conditions.Set("Restarting", true, "ReplicasRestart", status.message);
  } else if (conditions.Has("Restarting")) {
    conditions.Set("Restarting", false, ledger.outcome.has_value() ? "JobEnded" : "ReplicasRun",
                   "No replica waits for its next pod");
  }
  if (conditions.Has(kInternalErrorCondition)) {
    conditions.Set(kInternalErrorCondition, false, "Resolved", "The job can be planned again");
  }
  if (ledger.outcome.has_value()) {
    conditions.Set(JobStateName(*ledger.outcome), true, ledger.outcome_reason,
                   ledger.outcome_message);
  }
  return conditions.Take();
}

// Of a TFJob: the newest is the last.
class History {
 public:
  explicit History(const Snapshot& snapshot)
      : now_(snapshot.now), conditions_(Before(snapshot)) {}

  const Condition* Find(std::string_view type) const {
    for (const Condition& condition : conditions_) {
      if (condition.type == type) return &condition;
    }
    return nullptr;
  }
  bool Holds(std::string_view type) const {
    const Condition* found = Find(type);
    return found != nullptr && found->status;
  }
  void Drop(std::string_view type) {
    std::erase_if(conditions_, [type](const Condition& other) { return other.type == type; });
  }
  void Put(std::string_view type, bool status, const ConditionText& text) {
    Condition condition{.type = std::string(type), .status = status, .reason = text.reason,
                        .message = text.message, .last_transition_time = now_,
                        .last_update_time = now_};
    if (const Condition* found = Find(type); found != nullptr && found->status == status) {
      if (found->reason == text.reason) return;
      condition.last_transition_time = found->last_transition_time;
    }
    std::erase_if(conditions_, [type](const Condition& other) {
      return other.type == type || (type == "Running" && other.type == "Restarting") ||
             (type == "Restarting" && other.type == "Running");
    });
    conditions_.push_back(std::move(condition));
  }
  // The last of all, whatever somebody wrote there.
  void End(std::string_view type, const ConditionText& text) {
    if (!conditions_.empty()) {
      const Condition& last = conditions_.back();
      if (last.type == type && last.status && last.reason == text.reason &&
          last.message == text.message) {
        return;
      }
    }
    Drop(type);
    Put(type, true, text);
  }
  // In its place.
  void Deny(std::string_view type) {
    for (Condition& condition : conditions_) {
      if (condition.type != type || !condition.status) continue;
      condition.status = false;
      condition.last_transition_time = now_;
      condition.last_update_time = now_;
    }
  }
  std::vector<Condition> Take() { return std::move(conditions_); }

 private:
  const Clock::WallTime now_;
  std::vector<Condition> conditions_;
};

std::vector<Condition> OfTfJob(const Snapshot& snapshot, const Ledger& ledger, const Tally& tally,
                               const JobStatus& status) {
  const Job& job = snapshot.job;
  History history(snapshot);
  history.Drop(kRefusedCondition);
  history.Drop(kTemplateWarningCondition);
  if (history.Find("Created") == nullptr) history.Put("Created", true, TfJobCreated(job));
  if (ledger.outcome.has_value()) {
    history.Deny("Running");
    history.Deny("Restarting");
    history.End(JobStateName(*ledger.outcome), OutcomeText(job, ledger));
    return history.Take();
  }
  if (ledger.suspended) {
    if (history.Holds("Running")) history.Put("Running", false, TfJobSuspended(job));
    history.Put("Suspended", true, TfJobSuspended(job));
    return history.Take();
  }
  if (history.Holds("Suspended")) history.Put("Suspended", false, TfJobResumed(job));
  if (status.state == JobState::kRunning) history.Put("Running", true, TfJobRunning(job));
  if (status.state == JobState::kRestarting && tally.restarting.has_value()) {
    history.Put("Restarting", true, TfJobRestarting(job, *tally.restarting));
  }
  return history.Take();
}

}  // namespace

TemplateWarning TemplateWarningOf(const Snapshot& snapshot) {
  if (snapshot.template_warning.has_value()) return *snapshot.template_warning;
  for (const Condition& condition : snapshot.job.status.conditions) {
    const bool of_fields = condition.reason == kFieldsIgnored;
    if (condition.status && (of_fields || condition.reason == kServerWarned)) {
      return {.text = condition.message, .of_fields = of_fields};
    }
  }
  return {};
}

std::vector<Condition> DeriveConditions(const Snapshot& snapshot, const Ledger& ledger,
                                        const Tally& tally, const JobStatus& status) {
  const bool tfjob = snapshot.job.kind == JobKind::kTfJob;
  std::vector<Condition> conditions = tfjob ? OfTfJob(snapshot, ledger, tally, status)
                                            : OfTrainingJob(snapshot, ledger, tally, status);
  if (tfjob) {
    const TemplateWarning warning = TemplateWarningOf(snapshot);
    if (!warning.text.empty()) {
      PutFirst(snapshot, kTemplateWarningCondition, ReasonOf(warning), warning.text, &conditions);
    }
    if (!snapshot.refusal.empty()) {
      PutFirst(snapshot, kRefusedCondition, kRefusedReason, snapshot.refusal, &conditions);
    }
  }
  // An end that the ledger does not know is somebody's who may write the status.
  for (const JobState end : {JobState::kSucceeded, JobState::kFailed}) {
    if (ledger.outcome == end) continue;
    std::erase_if(conditions,
                  [end](const Condition& other) { return other.type == JobStateName(end); });
  }
  return conditions;
}

std::vector<Condition> WithRefusal(const Snapshot& snapshot, const std::string& why) {
  std::vector<Condition> conditions = snapshot.job.status.conditions;
  const bool said = !conditions.empty() && conditions.front().type == kRefusedCondition;
  if (said && conditions.front().message == why) return conditions;
  PutFirst(snapshot, kRefusedCondition, "AnotherController", why, &conditions);
  return conditions;
}

std::vector<Condition> WithInternalError(const Snapshot& snapshot, const std::string& what) {
  // To readers of TFJobs it would be the state of the job: there the message has to do.
  if (snapshot.job.kind == JobKind::kTfJob) return snapshot.job.status.conditions;
  Conditions conditions(snapshot);
  conditions.Set(kInternalErrorCondition, true, "BrokenInvariant", what);
  return conditions.Take();
}

}  // namespace taas
