#include "operator/api/status_codec.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "operator/api/dialect.h"
#include "operator/api/restart_codec.h"
#include "operator/base/clock.h"
#include "operator/base/shorten.h"
#include "operator/base/status.h"
#include "operator/base/utf8.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// As in the schema of the status: longer texts would be refused.
constexpr size_t kMaxReason = 1024;
constexpr size_t kMaxMessage = 32768;
constexpr size_t kMaxSource = 4096;
constexpr size_t kMaxNode = 253;
constexpr std::string_view kChiefPolicy = "Chief";

absl::Status ReadCondition(const JsonField& condition, Condition* out) {
  RETURN_IF_ERROR(condition.Object().status());
  RETURN_IF_ERROR(condition["type"].Read(&out->type));
  std::string status;
  RETURN_IF_ERROR(condition["status"].Read(&status));
  out->status = status == "True";
  RETURN_IF_ERROR(condition["reason"].Read(&out->reason));
  RETURN_IF_ERROR(condition["message"].Read(&out->message));
  RETURN_IF_ERROR(condition["lastTransitionTime"].Read(&out->last_transition_time));
  RETURN_IF_ERROR(condition["lastUpdateTime"].Read(&out->last_update_time));
  return condition["observedGeneration"].Read(&out->observed_generation);
}

absl::Status ReadReplicaStatus(const JsonField& field, ReplicaStatus* out) {
  RETURN_IF_ERROR(field.Object().status());
  RETURN_IF_ERROR(field["desired"].Read(&out->desired));
  RETURN_IF_ERROR(field["active"].Read(&out->active));
  RETURN_IF_ERROR(field["ready"].Read(&out->ready));
  RETURN_IF_ERROR(field["succeeded"].Read(&out->succeeded));
  return field["failed"].Read(&out->failed);
}

// "PS" and "Master" of a TFJob as well as "ps" and "chief".
std::optional<Role> RoleFromKey(std::string key) {
  std::transform(key.begin(), key.end(), key.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return key == "master" ? Role::kChief : RoleFromName(key);
}

absl::Status ReadReplicaStatuses(const JsonField& field, std::map<Role, ReplicaStatus>* out) {
  if (!field.present()) return absl::OkStatus();
  RETURN_IF_ERROR(field.Object().status());
  for (const auto& [key, ignored] : field.json().items()) {
    const std::optional<Role> role = RoleFromKey(key);
    if (!role.has_value()) continue;  // Of a later release.
    RETURN_IF_ERROR(ReadReplicaStatus(field[key], &(*out)[*role]));
  }
  return absl::OkStatus();
}

absl::Status ReadProgress(const JsonField& field, Progress* out) {
  RETURN_IF_ERROR(field.Object().status());
  RETURN_IF_ERROR(field["step"].Read(&out->step));
  RETURN_IF_ERROR(field["maxSteps"].Read(&out->max_steps));
  RETURN_IF_ERROR(field["percent"].Read(&out->percent));
  RETURN_IF_ERROR(field["examplesPerSecond"].Read(&out->examples_per_second));
  RETURN_IF_ERROR(field["loss"].Read(&out->loss));
  RETURN_IF_ERROR(field["etaSeconds"].Read(&out->eta_seconds));
  RETURN_IF_ERROR(field["dataSource"].Read(&out->data_source));
  const JsonField evaluation = field["evaluation"];
  if (!evaluation.present()) return absl::OkStatus();
  Evaluation& read = out->evaluation.emplace();
  RETURN_IF_ERROR(evaluation["step"].Read(&read.step));
  RETURN_IF_ERROR(evaluation["accuracy"].Read(&read.accuracy));
  RETURN_IF_ERROR(evaluation["loss"].Read(&read.loss));
  return evaluation["examples"].Read(&read.examples);
}

void PutText(Json* object, const char* key, const std::string& text, size_t limit = kMaxMessage) {
  if (!text.empty()) (*object)[key] = Shortened(text, limit);
}

void PutNumber(Json* object, const char* key, std::optional<double> number) {
  // JSON has no NaN.
  if (number.has_value() && std::isfinite(*number)) (*object)[key] = *number;
}

Json EncodeCondition(JobKind kind, const Condition& condition) {
  Json out = {{"type", condition.type},
              {"status", condition.status ? "True" : "False"},
              {"lastTransitionTime", FormatRfc3339(condition.last_transition_time)}};
  if (kind == JobKind::kTfJob) {
    out["lastUpdateTime"] =
        FormatRfc3339(condition.last_update_time.value_or(condition.last_transition_time));
  } else {
    out["observedGeneration"] = condition.observed_generation;
  }
  PutText(&out, "reason", condition.reason, kMaxReason);
  PutText(&out, "message", condition.message);
  return out;
}

Json EncodeProgress(const Progress& progress) {
  Json out = {{"step", progress.step}};
  // Of a program that does not say how many steps it takes no share is known.
  if (progress.max_steps > 0) {
    out["maxSteps"] = progress.max_steps;
    out["percent"] = progress.percent;
  }
  PutNumber(&out, "examplesPerSecond", progress.examples_per_second);
  PutNumber(&out, "loss", progress.loss);
  if (progress.eta_seconds.has_value()) out["etaSeconds"] = *progress.eta_seconds;
  PutText(&out, "dataSource", progress.data_source, kMaxSource);
  if (progress.evaluation.has_value()) {
    Json evaluation = {{"step", progress.evaluation->step},
                       {"examples", progress.evaluation->examples}};
    PutNumber(&evaluation, "accuracy", progress.evaluation->accuracy);
    PutNumber(&evaluation, "loss", progress.evaluation->loss);
    out["evaluation"] = std::move(evaluation);
  }
  return out;
}

Json EncodeReplicas(const ReplicaStatus& replicas) {
  return {{"desired", replicas.desired},
          {"active", replicas.active},
          {"ready", replicas.ready},
          {"succeeded", replicas.succeeded},
          {"failed", replicas.failed}};
}

// Zeros are left out and the selector is that of the role's pods, as readers of this API have it.
Json EncodeTfReplicas(const Job& job, Role role, const ReplicaStatus& replicas) {
  Json out = Json::object();
  if (replicas.active != 0) out["active"] = replicas.active;
  if (replicas.succeeded != 0) out["succeeded"] = replicas.succeeded;
  if (replicas.failed != 0) out["failed"] = replicas.failed;
  out["selector"] = "training.kubeflow.org/job-name=" + job.meta.name +
                    ",training.kubeflow.org/operator-name=tfjob-controller" +
                    ",training.kubeflow.org/replica-type=" + std::string(RoleNameIn(job, role));
  return out;
}

std::optional<Clock::WallTime> LastChange(const std::vector<Condition>& conditions) {
  std::optional<Clock::WallTime> last;
  for (const Condition& condition : conditions) {
    const Clock::WallTime time =
        condition.last_update_time.value_or(condition.last_transition_time);
    if (!last.has_value() || *last < time) last = time;
  }
  return last;
}

void PutRestarts(const JobStatus& status, Json* out) {
  int32_t count = 0;
  for (const auto& [cause, number] : status.restarts) count += number;
  (*out)["restartCount"] = count;
  if (!status.restarts.empty()) (*out)["restarts"] = EncodeRestartCounts(status.restarts);
  // Of a longer history only the newest are within the schema's limit.
  const size_t first = status.history.size() - std::min(status.history.size(), kRestartHistoryMax);
  for (size_t i = first; i < status.history.size(); ++i) {
    RestartRecord record = status.history[i];
    record.message = Shortened(record.message, kRestartMessageMax);
    record.node = CutToCharacter(record.node, kMaxNode);
    (*out)["history"].push_back(EncodeRestart(record));
  }
}

// In status the chief is called by its name, since "Auto" would not say what the job waits for.
std::string_view EffectiveName(SuccessPolicy policy) {
  return policy == SuccessPolicy::kAuto ? kChiefPolicy : SuccessPolicyName(policy);
}

std::optional<SuccessPolicy> EffectiveFromName(std::string_view name) {
  if (name == kChiefPolicy) return SuccessPolicy::kAuto;
  return SuccessPolicyFromName(name);
}

// What the API of TFJob and that of TrainingJob have in forms of their own.
void PutDialect(const Job& job, const JobStatus& status, Json* out) {
  const bool tfjob = job.kind == JobKind::kTfJob;
  for (const auto& [role, replicas] : status.replica_statuses) {
    (*out)["replicaStatuses"][std::string(RoleKeyIn(job, role))] =
        tfjob ? EncodeTfReplicas(job, role, replicas) : EncodeReplicas(replicas);
  }
  if (tfjob) {
    const std::optional<Clock::WallTime> last = LastChange(status.conditions);
    if (last.has_value()) (*out)["lastReconcileTime"] = FormatRfc3339(*last);
    return;
  }
  PutText(out, "selector", status.selector);
  (*out)["gpus"] = status.gpus;
  (*out)["successPolicy"] = std::string(EffectiveName(status.success_policy));
}

// Of a TFJob whose status another controller wrote: the last condition that holds.
JobState StateByConditions(const std::vector<Condition>& conditions) {
  for (auto last = conditions.rbegin(); last != conditions.rend(); ++last) {
    const std::optional<JobState> state = JobStateFromName(last->type);
    if (last->status && state.has_value()) return *state;
  }
  return JobState::kPending;
}

}  // namespace

absl::Status ReadStatus(JobKind kind, const JsonField& status, JobStatus* out) {
  if (!status.present()) return absl::OkStatus();
  RETURN_IF_ERROR(status.Object().status());
  RETURN_IF_ERROR(status["observedGeneration"].Read(&out->observed_generation));
  ASSIGN_OR_RETURN(const std::vector<JsonField> conditions, status["conditions"].Items());
  for (const JsonField& condition : conditions) {
    RETURN_IF_ERROR(ReadCondition(condition, &out->conditions.emplace_back()));
  }
  RETURN_IF_ERROR(ReadReplicaStatuses(status["replicaStatuses"], &out->replica_statuses));
  RETURN_IF_ERROR(ReadRestartCounts(status["restarts"], &out->restarts));
  RETURN_IF_ERROR(ReadRestartHistory(status["history"], &out->history));
  RETURN_IF_ERROR(status["attempt"].Read(&out->attempt));
  out->state = StateByConditions(out->conditions);
  RETURN_IF_ERROR(status["state"].ReadName(JobStateFromName, "a state of a job", &out->state));
  RETURN_IF_ERROR(status["ready"].Read(&out->ready));
  RETURN_IF_ERROR(status["message"].Read(&out->message));
  RETURN_IF_ERROR(status["startTime"].Read(&out->start_time));
  RETURN_IF_ERROR(status["completionTime"].Read(&out->completion_time));
  if (kind == JobKind::kTrainingJob) {
    RETURN_IF_ERROR(status["selector"].Read(&out->selector));
    RETURN_IF_ERROR(status["gpus"].Read(&out->gpus));
    RETURN_IF_ERROR(status["successPolicy"].ReadName(
        EffectiveFromName, "Chief, Worker0 or AllWorkers", &out->success_policy));
  }
  if (!status["progress"].present()) return absl::OkStatus();
  return ReadProgress(status["progress"], &out->progress.emplace());
}

std::string EncodeStatus(const Job& job, const JobStatus& status) {
  Json out = {{"observedGeneration", status.observed_generation},
              {"attempt", status.attempt},
              {"state", std::string(JobStateName(status.state))},
              {"message", Shortened(status.message, kMaxMessage)}};
  for (const Condition& condition : status.conditions) {
    out["conditions"].push_back(EncodeCondition(job.kind, condition));
  }
  PutRestarts(status, &out);
  PutDialect(job, status, &out);
  PutText(&out, "ready", status.ready);
  if (status.progress.has_value()) out["progress"] = EncodeProgress(*status.progress);
  if (status.start_time.has_value()) out["startTime"] = FormatRfc3339(*status.start_time);
  if (status.completion_time.has_value()) {
    out["completionTime"] = FormatRfc3339(*status.completion_time);
  }
  return DumpJson(out);
}

}  // namespace taas
