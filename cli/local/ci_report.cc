#include "cli/local/ci_report.h"

#include <cmath>
#include <optional>

#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::ordered_json;

int32_t Total(const std::map<RestartCause, int32_t>& restarts) {
  int32_t total = 0;
  for (const auto& [cause, count] : restarts) total += count;
  return total;
}

Json Number(std::optional<double> value) {
  return value.has_value() && std::isfinite(*value) ? Json(*value) : Json();
}

Json CheckpointJson(const CiOutcome& outcome) {
  if (!outcome.checkpoint.has_value()) return Json();
  const CheckpointPlace& place = *outcome.checkpoint;
  return {{"step", place.step.has_value() ? Json(*place.step) : Json()},
          {"folder", place.folder},
          {"bytes", place.bytes.has_value() ? Json(*place.bytes) : Json()}};
}

}  // namespace

std::string ReportJson(const CiOutcome& outcome) {
  const JobStatus& status = outcome.job.status;
  std::optional<double> accuracy;
  std::optional<double> loss;
  std::optional<double> rate;
  int64_t steps = 0;
  std::string source;
  if (status.progress.has_value()) {
    const Progress& progress = *status.progress;
    steps = progress.step;
    loss = progress.loss;
    rate = progress.examples_per_second;
    source = progress.data_source;
    if (progress.evaluation.has_value()) accuracy = progress.evaluation->accuracy;
  }
  Json restarts = {{"total", Total(status.restarts)}};
  for (const auto& [cause, count] : status.restarts) {
    restarts[std::string(RestartCauseName(cause))] = count;
  }
  Json replicas = Json::object();
  for (const auto& [role, spec] : outcome.job.spec.roles) {
    replicas[std::string(RoleName(role))] = spec.replicas;
  }
  const std::string state =
      outcome.state.empty() ? std::string(JobStateName(status.state)) : outcome.state;
  const Json report = {{"state", state},
                       {"steps", steps},
                       {"seconds", std::round(outcome.seconds * 1000) / 1000},
                       {"accuracy", Number(accuracy)},
                       {"loss", Number(loss)},
                       {"examplesPerSecond", Number(rate)},
                       {"restarts", restarts},
                       {"replicas", replicas},
                       {"dataSource", source.empty() ? Json() : Json(source)},
                       {"checkpoint", CheckpointJson(outcome)},
                       {"message", outcome.message.empty() ? status.message : outcome.message}};
  return report.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace taas
