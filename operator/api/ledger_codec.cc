#include "operator/api/ledger_codec.h"

#include <chrono>
#include <cstdio>
#include <utility>

#include "operator/api/json_field.h"
#include "operator/api/restart_codec.h"
#include "operator/base/clock.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

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

void PutTime(Json* object, const char* key, const std::optional<Clock::WallTime>& time) {
  if (time.has_value()) (*object)[key] = FormatExactly(*time);
}

void PutText(Json* object, const char* key, const std::string& text) {
  if (!text.empty()) (*object)[key] = text;
}

void PutCount(Json* object, const char* key, int32_t count) {
  if (count != 0) (*object)[key] = count;
}

// Whoever may edit the job may write anything there. A ledger begins with what is believed and
// counts on; the sum of the causes of restarts stays within 32 bits.
constexpr int32_t kStoredMax = 3 * kCountMax;

absl::Status ReadCount(const JsonField& field, int32_t* out) {
  RETURN_IF_ERROR(field.Read(out));
  if (*out >= 0 && *out <= kStoredMax) return absl::OkStatus();
  return field.Wrong("a count up to " + std::to_string(kStoredMax));
}

absl::Status ReadCounts(const JsonField& field, std::map<RestartCause, int32_t>* out) {
  RETURN_IF_ERROR(ReadRestartCounts(field, out));
  for (auto& [cause, count] : *out) {
    RETURN_IF_ERROR(ReadCount(field[std::string(RestartCauseName(cause))], &count));
  }
  return absl::OkStatus();
}

// One that cannot be is none: the replica gets another.
absl::Status ReadPort(const JsonField& field, int32_t* out) {
  RETURN_IF_ERROR(field.Read(out));
  constexpr int32_t kPortMax = 65'535;
  if (*out < 0 || *out > kPortMax) *out = 0;
  return absl::OkStatus();
}

// Whoever may edit the job may write anything there: what can be no token is none.
absl::Status ReadToken(const JsonField& field, std::string* out) {
  RETURN_IF_ERROR(field.Read(out));
  if (!IsJobToken(*out)) out->clear();
  return absl::OkStatus();
}

absl::Status ReadReplica(const JsonField& field, LedgerReplica* out) {
  RETURN_IF_ERROR(field.Object().status());
  RETURN_IF_ERROR(ReadCount(field["pod"], &out->pod_number));
  RETURN_IF_ERROR(ReadCount(field["firstPod"], &out->first_pod));
  RETURN_IF_ERROR(field["completed"].Read(&out->completed));
  RETURN_IF_ERROR(field["failed"].Read(&out->failed));
  RETURN_IF_ERROR(ReadCount(field["restartsInPlace"], &out->restarts_in_place));
  RETURN_IF_ERROR(ReadCount(field["ownRestarts"], &out->own_restarts));
  RETURN_IF_ERROR(ReadCount(field["quickFailures"], &out->quick_failures));
  RETURN_IF_ERROR(field["notBefore"].Read(&out->not_before));
  RETURN_IF_ERROR(ReadPort(field["port"], &out->port));
  return ReadPort(field["statusPort"], &out->status_port);
}

absl::Status ReadRole(const JsonField& role, std::map<int32_t, LedgerReplica>* out) {
  RETURN_IF_ERROR(role.Object().status());
  for (const auto& [key, ignored] : role.json().items()) {
    int32_t index = 0;
    int used = 0;
    if (key.size() > 9 || std::sscanf(key.c_str(), "%d%n", &index, &used) != 1 ||
        static_cast<size_t>(used) != key.size() || index < 0) {
      return absl::InvalidArgumentError(role.path() + "." + key + ": the key is no index");
    }
    RETURN_IF_ERROR(ReadReplica(role[key], &(*out)[index]));
  }
  return absl::OkStatus();
}

absl::Status ReadGroup(const JsonField& field, std::optional<AdmittedGroup>* out) {
  if (!field.present()) return absl::OkStatus();
  RETURN_IF_ERROR(field.Object().status());
  AdmittedGroup& group = out->emplace();
  RETURN_IF_ERROR(ReadCount(field["attempt"], &group.attempt));
  RETURN_IF_ERROR(ReadCount(field["replicas"], &group.replicas));
  return ReadCount(field["pods"], &group.pods);
}

absl::Status ReadBadNodes(const JsonField& field, std::vector<BadNode>* out) {
  ASSIGN_OR_RETURN(const std::vector<JsonField> items, field.Items());
  for (const JsonField& item : items) {
    RETURN_IF_ERROR(item.Object().status());
    BadNode& node = out->emplace_back();
    RETURN_IF_ERROR(item["name"].Read(&node.name));
    RETURN_IF_ERROR(item["since"].Read(&node.since));
  }
  return absl::OkStatus();
}

absl::StatusOr<Ledger> ReadLedger(std::string_view json) {
  ASSIGN_OR_RETURN(const Json object, ParseJsonObject(json));
  const JsonField root(&object, "");
  Ledger ledger;
  RETURN_IF_ERROR(ReadCount(root["attempt"], &ledger.attempt));
  RETURN_IF_ERROR(ReadToken(root["token"], &ledger.token));
  RETURN_IF_ERROR(root["startTime"].Read(&ledger.start_time));
  RETURN_IF_ERROR(root["suspended"].Read(&ledger.suspended));
  RETURN_IF_ERROR(root["pendingSince"].Read(&ledger.pending_since));
  RETURN_IF_ERROR(ReadCount(root["releases"], &ledger.releases));
  RETURN_IF_ERROR(root["releasedUntil"].Read(&ledger.released_until));
  RETURN_IF_ERROR(ReadCount(root["ranAttempt"], &ledger.ran_attempt));
  RETURN_IF_ERROR(root["releasedBecause"].Read(&ledger.released_because));
  RETURN_IF_ERROR(root["finishingSince"].Read(&ledger.finishing_since));
  RETURN_IF_ERROR(ReadGroup(root["group"], &ledger.group));
  RETURN_IF_ERROR(root["takenOver"].Read(&ledger.taken_over));
  RETURN_IF_ERROR(ReadRestartHistory(root["history"], &ledger.history));
  RETURN_IF_ERROR(ReadBadNodes(root["badNodes"], &ledger.bad_nodes));
  RETURN_IF_ERROR(ReadCounts(root["restarts"], &ledger.restarts));
  for (const Role role : {Role::kChief, Role::kPs, Role::kWorker, Role::kEvaluator}) {
    const JsonField replicas = root["replicas"][std::string(RoleName(role))];
    if (!replicas.present()) continue;
    RETURN_IF_ERROR(ReadRole(replicas, &ledger.replicas[role]));
  }
  JobState outcome = JobState::kPending;
  RETURN_IF_ERROR(root["outcome"].ReadName(JobStateFromName, "a state of a job", &outcome));
  if (root["outcome"].present()) ledger.outcome = outcome;
  RETURN_IF_ERROR(root["outcomeReason"].Read(&ledger.outcome_reason));
  RETURN_IF_ERROR(root["outcomeMessage"].Read(&ledger.outcome_message));
  RETURN_IF_ERROR(root["outcomeRemark"].Read(&ledger.outcome_remark));
  RETURN_IF_ERROR(root["outcomeTime"].Read(&ledger.outcome_time));
  return ledger;
}

Json EncodeReplica(const LedgerReplica& replica) {
  Json out = {{"pod", replica.pod_number}};
  if (replica.first_pod != 1) out["firstPod"] = replica.first_pod;
  if (replica.completed) out["completed"] = true;
  if (replica.failed) out["failed"] = true;
  PutCount(&out, "restartsInPlace", replica.restarts_in_place);
  PutCount(&out, "ownRestarts", replica.own_restarts);
  PutCount(&out, "quickFailures", replica.quick_failures);
  PutTime(&out, "notBefore", replica.not_before);
  PutCount(&out, "port", replica.port);
  PutCount(&out, "statusPort", replica.status_port);
  return out;
}

}  // namespace

std::string EncodeLedger(const Ledger& ledger) {
  Json out = {{"attempt", ledger.attempt}};
  PutText(&out, "token", ledger.token);
  PutTime(&out, "startTime", ledger.start_time);
  if (ledger.suspended) out["suspended"] = true;
  PutTime(&out, "pendingSince", ledger.pending_since);
  PutCount(&out, "releases", ledger.releases);
  PutTime(&out, "releasedUntil", ledger.released_until);
  PutCount(&out, "ranAttempt", ledger.ran_attempt);
  PutText(&out, "releasedBecause", ledger.released_because);
  PutTime(&out, "finishingSince", ledger.finishing_since);
  if (ledger.group.has_value()) {
    out["group"] = {{"attempt", ledger.group->attempt},
                    {"replicas", ledger.group->replicas},
                    {"pods", ledger.group->pods}};
  }
  PutTime(&out, "takenOver", ledger.taken_over);
  for (const RestartRecord& record : ledger.history) {
    Json entry = EncodeRestart(record);
    entry["time"] = FormatExactly(record.time);
    out["history"].push_back(std::move(entry));
  }
  for (const BadNode& node : ledger.bad_nodes) {
    out["badNodes"].push_back({{"name", node.name}, {"since", FormatExactly(node.since)}});
  }
  if (!ledger.restarts.empty()) out["restarts"] = EncodeRestartCounts(ledger.restarts);
  for (const auto& [role, replicas] : ledger.replicas) {
    Json by_index = Json::object();
    for (const auto& [index, replica] : replicas) {
      by_index[std::to_string(index)] = EncodeReplica(replica);
    }
    out["replicas"][std::string(RoleName(role))] = std::move(by_index);
  }
  if (ledger.outcome.has_value()) out["outcome"] = std::string(JobStateName(*ledger.outcome));
  PutText(&out, "outcomeReason", ledger.outcome_reason);
  PutText(&out, "outcomeMessage", ledger.outcome_message);
  PutText(&out, "outcomeRemark", ledger.outcome_remark);
  PutTime(&out, "outcomeTime", ledger.outcome_time);
  return DumpJson(out);
}

absl::StatusOr<Ledger> DecodeLedger(std::string_view json) {
  absl::StatusOr<Ledger> ledger = ReadLedger(json);
  if (!ledger.ok()) {
    return Annotate(ledger.status(), "decode annotation " + std::string(kLedgerAnnotation));
  }
  return ledger;
}

}  // namespace taas
