#include "operator/api/training_job_codec.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "operator/base/clock.h"
#include "operator/base/status.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// As in the schema of the status: longer texts would be refused.
constexpr size_t kMaxReason = 1024;
constexpr size_t kMaxMessage = 32768;
constexpr size_t kMaxSource = 4096;
// The path says which value is meant; its beginning is enough.
constexpr size_t kMaxValueInMessage = 80;

// A value and where it stands, so that every error names its field. Absent and null are the same.
class Field {
 public:
  Field(const Json* value, std::string path) : value_(value), path_(std::move(path)) {}

  bool present() const { return value_ != nullptr && !value_->is_null(); }
  const Json& json() const { return *value_; }
  const std::string& path() const { return path_; }

  absl::StatusOr<Field> Object() const {
    if (present() && !value_->is_object()) return Wrong("an object");
    return *this;
  }

  // Of an object; absent below what is absent or not an object.
  Field operator[](const std::string& key) const {
    const std::string below = path_.empty() ? key : path_ + "." + key;
    if (!present() || !value_->is_object()) return Field(nullptr, below);
    const auto member = value_->find(key);
    return Field(member == value_->end() ? nullptr : &*member, below);
  }

  absl::Status Read(std::string* out) const {
    if (!present()) return absl::OkStatus();
    if (!value_->is_string()) return Wrong("a text");
    *out = value_->get<std::string>();
    return absl::OkStatus();
  }

  absl::Status Read(bool* out) const {
    if (!present()) return absl::OkStatus();
    if (!value_->is_boolean()) return Wrong("true or false");
    *out = value_->get<bool>();
    return absl::OkStatus();
  }

  absl::Status Read(double* out) const {
    if (!present()) return absl::OkStatus();
    if (!value_->is_number()) return Wrong("a number");
    *out = value_->get<double>();
    return absl::OkStatus();
  }

  template <typename Integer>
  absl::Status ReadInteger(Integer* out) const {
    if (!present()) return absl::OkStatus();
    if (!value_->is_number()) return Wrong("a whole number");
    const double number = value_->get<double>();
    // 2^63 itself is no int64_t, but the nearest double of its predecessor.
    const bool fits = number >= static_cast<double>(std::numeric_limits<Integer>::min()) &&
                      (sizeof(Integer) < 8
                           ? number <= static_cast<double>(std::numeric_limits<Integer>::max())
                           : number < 0x1p63);
    if (!fits || std::trunc(number) != number) return Wrong("a whole number in range");
    *out = value_->get<Integer>();
    return absl::OkStatus();
  }
  absl::Status Read(int32_t* out) const { return ReadInteger(out); }
  absl::Status Read(int64_t* out) const { return ReadInteger(out); }

  absl::Status Read(Clock::WallTime* out) const {
    if (!present()) return absl::OkStatus();
    if (!value_->is_string() || !ParseRfc3339(value_->get_ref<const std::string&>(), out)) {
      return Wrong("a time such as 2026-11-21T05:54:17Z");
    }
    return absl::OkStatus();
  }

  template <typename Value>
  absl::Status Read(std::optional<Value>* out) const {
    if (!present()) return absl::OkStatus();
    Value value{};
    RETURN_IF_ERROR(Read(&value));
    *out = std::move(value);
    return absl::OkStatus();
  }

  absl::Status Wrong(const std::string& want) const {
    std::string text;
    if (present()) text = value_->dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > kMaxValueInMessage) text = text.substr(0, kMaxValueInMessage) + "…";
    return absl::InvalidArgumentError(path_ + ": " + text + " is not " + want);
  }

 private:
  const Json* value_;
  std::string path_;
};

absl::Status ReadMeta(const Field& meta, ObjectMeta* out) {
  RETURN_IF_ERROR(meta["namespace"].Read(&out->ns));
  RETURN_IF_ERROR(meta["name"].Read(&out->name));
  RETURN_IF_ERROR(meta["uid"].Read(&out->uid));
  RETURN_IF_ERROR(meta["resourceVersion"].Read(&out->resource_version));
  RETURN_IF_ERROR(meta["generation"].Read(&out->generation));
  RETURN_IF_ERROR(meta["creationTimestamp"].Read(&out->creation_time));
  return meta["deletionTimestamp"].Read(&out->deletion_time);
}

absl::Status ReadTrainer(const Field& trainer, TrainerSpec* out) {
  if (!trainer.present()) return absl::InvalidArgumentError(trainer.path() + ": is missing");
  RETURN_IF_ERROR(trainer.Object().status());
  Json config = trainer.json();
  config.erase("image");
  out->config = config.dump(-1, ' ', false, Json::error_handler_t::replace);
  RETURN_IF_ERROR(trainer["image"].Read(&out->image));
  std::string strategy = "ParameterServer";
  RETURN_IF_ERROR(trainer["strategy"]["type"].Read(&strategy));
  out->local_strategy = strategy == "Local";
  RETURN_IF_ERROR(trainer["checkpoint"]["dir"].Read(&out->checkpoint_dir));
  return trainer["maxSteps"].Read(&out->max_steps);
}

absl::Status ReadRoles(const Field& roles, std::map<Role, RoleSpec>* out) {
  if (!roles.present()) return absl::InvalidArgumentError(roles.path() + ": is missing");
  RETURN_IF_ERROR(roles.Object().status());
  for (const Role role : {Role::kChief, Role::kPs, Role::kWorker}) {
    const Field spec = roles[std::string(RoleName(role))];
    if (!spec.present()) continue;
    RETURN_IF_ERROR(spec.Object().status());
    RoleSpec& read = (*out)[role];
    RETURN_IF_ERROR(spec["replicas"].Read(&read.replicas));
    if (read.replicas < 0) return spec["replicas"].Wrong("0 or more");
  }
  return absl::OkStatus();
}

absl::Status ReadVolume(const Field& volume, VolumeSpec* out) {
  RETURN_IF_ERROR(volume.Object().status());
  RETURN_IF_ERROR(volume["name"].Read(&out->name));
  RETURN_IF_ERROR(volume["mountPath"].Read(&out->mount_path));
  RETURN_IF_ERROR(volume["readOnly"].Read(&out->read_only));
  const Field roles = volume["roles"];
  if (roles.present()) {
    if (!roles.json().is_array()) return roles.Wrong("a list");
    for (const Json& name : roles.json()) {
      const std::optional<Role> role =
          name.is_string() ? RoleFromName(name.get_ref<const std::string&>()) : std::nullopt;
      if (!role.has_value()) return roles.Wrong("a list of chief, ps and worker");
      out->roles.push_back(*role);
    }
  }
  ASSIGN_OR_RETURN(const Field source, volume["source"].Object());
  if (!source.present()) return absl::InvalidArgumentError(source.path() + ": is missing");
  out->source = source.json().dump(-1, ' ', false, Json::error_handler_t::replace);
  return absl::OkStatus();
}

absl::Status ReadSpec(const Field& spec, JobSpec* out) {
  RETURN_IF_ERROR(ReadTrainer(spec["trainer"], &out->trainer));
  RETURN_IF_ERROR(ReadRoles(spec["roles"], &out->roles));
  RETURN_IF_ERROR(spec["backoffLimit"].Read(&out->backoff_limit));
  const Field volumes = spec["volumes"];
  if (volumes.present()) {
    if (!volumes.json().is_array()) return volumes.Wrong("a list");
    for (size_t i = 0; i < volumes.json().size(); ++i) {
      const Field volume(&volumes.json()[i], volumes.path() + "[" + std::to_string(i) + "]");
      RETURN_IF_ERROR(ReadVolume(volume, &out->volumes.emplace_back()));
    }
  }
  std::string policy = "Running";
  RETURN_IF_ERROR(spec["cleanPodPolicy"].Read(&policy));
  if (policy == "Running") {
    out->clean_pod_policy = CleanPodPolicy::kRunning;
  } else if (policy == "All") {
    out->clean_pod_policy = CleanPodPolicy::kAll;
  } else if (policy == "None") {
    out->clean_pod_policy = CleanPodPolicy::kNone;
  } else {
    return spec["cleanPodPolicy"].Wrong("Running, All or None");
  }
  return absl::OkStatus();
}

absl::Status ReadRestarts(const Field& restarts, std::map<RestartCause, int32_t>* out) {
  if (!restarts.present()) return absl::OkStatus();
  RETURN_IF_ERROR(restarts.Object().status());
  for (const auto& [name, ignored] : restarts.json().items()) {
    const std::optional<RestartCause> cause = RestartCauseFromName(name);
    if (!cause.has_value()) continue;  // Of a later release.
    RETURN_IF_ERROR(restarts[name].Read(&(*out)[*cause]));
  }
  return absl::OkStatus();
}

absl::Status ReadState(const Field& field, std::optional<JobState>* out) {
  if (!field.present()) return absl::OkStatus();
  std::string name;
  RETURN_IF_ERROR(field.Read(&name));
  *out = JobStateFromName(name);
  if (!out->has_value()) return field.Wrong("a state of a job");
  return absl::OkStatus();
}

absl::Status ReadCondition(const Field& condition, Condition* out) {
  RETURN_IF_ERROR(condition.Object().status());
  RETURN_IF_ERROR(condition["type"].Read(&out->type));
  std::string status;
  RETURN_IF_ERROR(condition["status"].Read(&status));
  out->status = status == "True";
  RETURN_IF_ERROR(condition["reason"].Read(&out->reason));
  RETURN_IF_ERROR(condition["message"].Read(&out->message));
  RETURN_IF_ERROR(condition["lastTransitionTime"].Read(&out->last_transition_time));
  return condition["observedGeneration"].Read(&out->observed_generation);
}

absl::Status ReadReplicaStatus(const Field& field, ReplicaStatus* out) {
  RETURN_IF_ERROR(field["desired"].Read(&out->desired));
  RETURN_IF_ERROR(field["active"].Read(&out->active));
  RETURN_IF_ERROR(field["ready"].Read(&out->ready));
  RETURN_IF_ERROR(field["succeeded"].Read(&out->succeeded));
  return field["failed"].Read(&out->failed);
}

absl::Status ReadProgress(const Field& field, Progress* out) {
  RETURN_IF_ERROR(field["step"].Read(&out->step));
  RETURN_IF_ERROR(field["maxSteps"].Read(&out->max_steps));
  RETURN_IF_ERROR(field["percent"].Read(&out->percent));
  RETURN_IF_ERROR(field["examplesPerSecond"].Read(&out->examples_per_second));
  RETURN_IF_ERROR(field["loss"].Read(&out->loss));
  RETURN_IF_ERROR(field["etaSeconds"].Read(&out->eta_seconds));
  RETURN_IF_ERROR(field["dataSource"].Read(&out->data_source));
  const Field evaluation = field["evaluation"];
  if (!evaluation.present()) return absl::OkStatus();
  Evaluation& read = out->evaluation.emplace();
  RETURN_IF_ERROR(evaluation["step"].Read(&read.step));
  RETURN_IF_ERROR(evaluation["accuracy"].Read(&read.accuracy));
  RETURN_IF_ERROR(evaluation["loss"].Read(&read.loss));
  return evaluation["examples"].Read(&read.examples);
}

absl::Status ReadStatus(const Field& status, JobStatus* out) {
  if (!status.present()) return absl::OkStatus();
  RETURN_IF_ERROR(status.Object().status());
  RETURN_IF_ERROR(status["observedGeneration"].Read(&out->observed_generation));
  const Field conditions = status["conditions"];
  if (conditions.present()) {
    if (!conditions.json().is_array()) return conditions.Wrong("a list");
    for (size_t i = 0; i < conditions.json().size(); ++i) {
      const Field one(&conditions.json()[i], conditions.path() + "[" + std::to_string(i) + "]");
      RETURN_IF_ERROR(ReadCondition(one, &out->conditions.emplace_back()));
    }
  }
  for (const Role role : {Role::kChief, Role::kPs, Role::kWorker}) {
    const Field replicas = status["replicaStatuses"][std::string(RoleName(role))];
    if (!replicas.present()) continue;
    RETURN_IF_ERROR(ReadReplicaStatus(replicas, &out->replica_statuses[role]));
  }
  RETURN_IF_ERROR(ReadRestarts(status["restarts"], &out->restarts));
  RETURN_IF_ERROR(status["attempt"].Read(&out->attempt));
  std::optional<JobState> state;
  RETURN_IF_ERROR(ReadState(status["state"], &state));
  out->state = state.value_or(JobState::kPending);
  RETURN_IF_ERROR(status["ready"].Read(&out->ready));
  RETURN_IF_ERROR(status["selector"].Read(&out->selector));
  RETURN_IF_ERROR(status["message"].Read(&out->message));
  RETURN_IF_ERROR(status["startTime"].Read(&out->start_time));
  RETURN_IF_ERROR(status["completionTime"].Read(&out->completion_time));
  if (!status["progress"].present()) return absl::OkStatus();
  return ReadProgress(status["progress"], &out->progress.emplace());
}

absl::Status ReadLedgerReplica(const Field& field, LedgerReplica* out) {
  RETURN_IF_ERROR(field.Object().status());
  RETURN_IF_ERROR(field["pod"].Read(&out->pod_number));
  RETURN_IF_ERROR(field["completed"].Read(&out->completed));
  RETURN_IF_ERROR(field["quickFailures"].Read(&out->quick_failures));
  RETURN_IF_ERROR(field["notBefore"].Read(&out->not_before));
  RETURN_IF_ERROR(field["port"].Read(&out->port));
  RETURN_IF_ERROR(field["statusPort"].Read(&out->status_port));
  const Field avoid = field["avoidNodes"];
  if (!avoid.present()) return absl::OkStatus();
  if (!avoid.json().is_array()) return avoid.Wrong("a list");
  for (const Json& node : avoid.json()) {
    if (!node.is_string()) return avoid.Wrong("a list of texts");
    out->avoid_nodes.push_back(node.get<std::string>());
  }
  return absl::OkStatus();
}

absl::Status ReadLedgerRole(const Field& role, std::map<int32_t, LedgerReplica>* out) {
  RETURN_IF_ERROR(role.Object().status());
  for (const auto& [key, ignored] : role.json().items()) {
    int32_t index = 0;
    int used = 0;
    if (key.size() > 9 || std::sscanf(key.c_str(), "%d%n", &index, &used) != 1 ||
        static_cast<size_t>(used) != key.size() || index < 0) {
      return absl::InvalidArgumentError(role.path() + "." + key + ": the key is no index");
    }
    RETURN_IF_ERROR(ReadLedgerReplica(role[key], &(*out)[index]));
  }
  return absl::OkStatus();
}

absl::StatusOr<Json> ParseObject(std::string_view text) {
  Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) return absl::InvalidArgumentError("the text is not JSON");
  if (!object.is_object()) return absl::InvalidArgumentError("the text is not a JSON object");
  return object;
}

// At most `limit` bytes, not ending inside a character.
std::string Cut(const std::string& text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

void PutText(Json* object, const char* key, const std::string& text, size_t limit = kMaxMessage) {
  if (!text.empty()) (*object)[key] = Cut(text, limit);
}

void PutNumber(Json* object, const char* key, double number) {
  if (std::isfinite(number)) (*object)[key] = number;  // JSON has no NaN.
}

Json EncodeRestarts(const std::map<RestartCause, int32_t>& restarts) {
  Json out = Json::object();
  for (const auto& [cause, count] : restarts) out[std::string(RestartCauseName(cause))] = count;
  return out;
}

Json EncodeCondition(const Condition& condition) {
  Json out = {{"type", condition.type},
              {"status", condition.status ? "True" : "False"},
              {"lastTransitionTime", FormatRfc3339(condition.last_transition_time)},
              {"observedGeneration", condition.observed_generation}};
  PutText(&out, "reason", condition.reason, kMaxReason);
  PutText(&out, "message", condition.message);
  return out;
}

Json EncodeProgress(const Progress& progress) {
  Json out = {{"step", progress.step},
              {"maxSteps", progress.max_steps},
              {"percent", progress.percent}};
  PutNumber(&out, "examplesPerSecond", progress.examples_per_second);
  if (progress.loss.has_value()) PutNumber(&out, "loss", *progress.loss);
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

// Nanoseconds, so that what is read back is the same instant and a ledger compares equal.
std::string FormatExactly(Clock::WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(time - seconds).count();
  std::string text = FormatRfc3339(seconds);
  if (rest == 0) return text;
  char fraction[24];
  std::snprintf(fraction, sizeof(fraction), ".%09lldZ", static_cast<long long>(rest));
  text.pop_back();
  return text + fraction;
}

// Only what differs from the beginning: a ledger is part of every list of jobs.
Json EncodeLedgerReplica(const LedgerReplica& replica) {
  Json out = {{"pod", replica.pod_number}};
  if (replica.completed) out["completed"] = true;
  if (replica.quick_failures != 0) out["quickFailures"] = replica.quick_failures;
  if (replica.not_before.has_value()) out["notBefore"] = FormatExactly(*replica.not_before);
  if (!replica.avoid_nodes.empty()) out["avoidNodes"] = replica.avoid_nodes;
  if (replica.port != 0) out["port"] = replica.port;
  if (replica.status_port != 0) out["statusPort"] = replica.status_port;
  return out;
}

std::string Dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<Ledger> ReadLedger(std::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseObject(json));
  const Field root(&object, "");
  Ledger ledger;
  RETURN_IF_ERROR(root["attempt"].Read(&ledger.attempt));
  RETURN_IF_ERROR(ReadRestarts(root["restarts"], &ledger.restarts));
  for (const Role role : {Role::kChief, Role::kPs, Role::kWorker}) {
    const Field replicas = root["replicas"][std::string(RoleName(role))];
    if (!replicas.present()) continue;
    RETURN_IF_ERROR(ReadLedgerRole(replicas, &ledger.replicas[role]));
  }
  RETURN_IF_ERROR(ReadState(root["outcome"], &ledger.outcome));
  RETURN_IF_ERROR(root["outcomeReason"].Read(&ledger.outcome_reason));
  RETURN_IF_ERROR(root["outcomeMessage"].Read(&ledger.outcome_message));
  RETURN_IF_ERROR(root["outcomeTime"].Read(&ledger.outcome_time));
  return ledger;
}

}  // namespace

absl::StatusOr<Job> DecodeTrainingJob(std::string_view json) {
  absl::StatusOr<Json> object = ParseObject(json);
  if (!object.ok()) return Annotate(object.status(), "decode a TrainingJob");
  const Field root(&*object, "");
  Job job;
  RETURN_IF_ERROR(ReadMeta(root["metadata"], &job.meta)).With("decode a TrainingJob");
  const std::string what = "decode TrainingJob " + job.meta.ns + "/" + job.meta.name;
  RETURN_IF_ERROR(ReadSpec(root["spec"], &job.spec)).With(what);
  RETURN_IF_ERROR(ReadStatus(root["status"], &job.status)).With(what);
  const Field annotation = root["metadata"]["annotations"][std::string(kLedgerAnnotation)];
  if (annotation.present()) {
    std::string text;
    RETURN_IF_ERROR(annotation.Read(&text)).With(what);
    absl::StatusOr<Ledger> ledger = DecodeLedger(text);
    if (!ledger.ok()) return Annotate(ledger.status(), what);
    job.ledger = *std::move(ledger);
  }
  return job;
}

std::string EncodeStatus(const JobStatus& status) {
  Json out = {{"observedGeneration", status.observed_generation},
              {"attempt", status.attempt},
              {"state", std::string(JobStateName(status.state))},
              {"message", Cut(status.message, kMaxMessage)}};
  Json conditions = Json::array();
  for (const Condition& condition : status.conditions) {
    conditions.push_back(EncodeCondition(condition));
  }
  if (!conditions.empty()) out["conditions"] = std::move(conditions);
  for (const auto& [role, replicas] : status.replica_statuses) {
    out["replicaStatuses"][std::string(RoleName(role))] = {{"desired", replicas.desired},
                                                           {"active", replicas.active},
                                                           {"ready", replicas.ready},
                                                           {"succeeded", replicas.succeeded},
                                                           {"failed", replicas.failed}};
  }
  int32_t restart_count = 0;
  for (const auto& [cause, count] : status.restarts) restart_count += count;
  out["restartCount"] = restart_count;
  if (!status.restarts.empty()) out["restarts"] = EncodeRestarts(status.restarts);
  PutText(&out, "ready", status.ready);
  PutText(&out, "selector", status.selector);
  if (status.progress.has_value()) out["progress"] = EncodeProgress(*status.progress);
  if (status.start_time.has_value()) out["startTime"] = FormatRfc3339(*status.start_time);
  if (status.completion_time.has_value()) {
    out["completionTime"] = FormatRfc3339(*status.completion_time);
  }
  return Dump(out);
}

std::string EncodeLedger(const Ledger& ledger) {
  Json out = {{"attempt", ledger.attempt}};
  if (!ledger.restarts.empty()) out["restarts"] = EncodeRestarts(ledger.restarts);
  for (const auto& [role, replicas] : ledger.replicas) {
    Json by_index = Json::object();
    for (const auto& [index, replica] : replicas) {
      by_index[std::to_string(index)] = EncodeLedgerReplica(replica);
    }
    out["replicas"][std::string(RoleName(role))] = std::move(by_index);
  }
  if (ledger.outcome.has_value()) out["outcome"] = std::string(JobStateName(*ledger.outcome));
  if (!ledger.outcome_reason.empty()) out["outcomeReason"] = ledger.outcome_reason;
  if (!ledger.outcome_message.empty()) out["outcomeMessage"] = ledger.outcome_message;
  if (ledger.outcome_time.has_value()) out["outcomeTime"] = FormatExactly(*ledger.outcome_time);
  return Dump(out);
}

absl::StatusOr<Ledger> DecodeLedger(std::string_view json) {
  absl::StatusOr<Ledger> ledger = ReadLedger(json);
  if (!ledger.ok()) {
    return Annotate(ledger.status(), "decode annotation " + std::string(kLedgerAnnotation));
  }
  return ledger;
}

}  // namespace taas
