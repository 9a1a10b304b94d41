#include "operator/api/restart_codec.h"

#include <string>

#include "operator/base/clock.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

absl::Status ReadRestart(const JsonField& field, RestartRecord* out) {
  RETURN_IF_ERROR(field.Object().status());
  RETURN_IF_ERROR(field["role"].ReadName(RoleFromName, "a role", &out->role));
  RETURN_IF_ERROR(field["index"].Read(&out->index));
  RETURN_IF_ERROR(field["attempt"].Read(&out->attempt));
  RETURN_IF_ERROR(field["podNumber"].Read(&out->pod_number));
  RETURN_IF_ERROR(
      field["cause"].ReadName(RestartCauseFromName, "a cause of restarts", &out->cause));
  RETURN_IF_ERROR(field["exitCode"].Read(&out->exit_code));
  RETURN_IF_ERROR(field["message"].Read(&out->message));
  RETURN_IF_ERROR(field["node"].Read(&out->node));
  return field["time"].Read(&out->time);
}

}  // namespace

absl::Status ReadRestartCounts(const JsonField& field, std::map<RestartCause, int32_t>* out) {
  if (!field.present()) return absl::OkStatus();
  RETURN_IF_ERROR(field.Object().status());
  for (const auto& [name, ignored] : field.json().items()) {
    const std::optional<RestartCause> cause = RestartCauseFromName(name);
    if (!cause.has_value()) continue;  // Of a later release.
    RETURN_IF_ERROR(field[name].Read(&(*out)[*cause]));
  }
  return absl::OkStatus();
}

absl::Status ReadRestartHistory(const JsonField& field, std::vector<RestartRecord>* out) {
  ASSIGN_OR_RETURN(const std::vector<JsonField> items, field.Items());
  for (const JsonField& item : items) {
    const JsonField cause = item["cause"];
    if (cause.present() && cause.json().is_string() &&
        !RestartCauseFromName(cause.json().get_ref<const std::string&>()).has_value()) {
      continue;  // Of a later release.
    }
    RETURN_IF_ERROR(ReadRestart(item, &out->emplace_back()));
  }
  return absl::OkStatus();
}

Json EncodeRestartCounts(const std::map<RestartCause, int32_t>& restarts) {
  Json out = Json::object();
  for (const auto& [cause, count] : restarts) out[std::string(RestartCauseName(cause))] = count;
  return out;
}

Json EncodeRestart(const RestartRecord& record) {
  Json out = {{"role", std::string(RoleName(record.role))},
              {"index", record.index},
              {"attempt", record.attempt},
              {"podNumber", record.pod_number},
              {"cause", std::string(RestartCauseName(record.cause))},
              {"time", FormatRfc3339(record.time)}};
  if (record.exit_code.has_value()) out["exitCode"] = *record.exit_code;
  if (!record.message.empty()) out["message"] = record.message;
  if (!record.node.empty()) out["node"] = record.node;
  return out;
}

}  // namespace taas
