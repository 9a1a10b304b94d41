#include "cli/local/ci_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "nlohmann/json.hpp"

namespace taas {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kBarWidth = 30;

std::string Short(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

int32_t Total(const std::map<RestartCause, int32_t>& restarts) {
  int32_t total = 0;
  for (const auto& [cause, count] : restarts) total += count;
  return total;
}

Json Number(std::optional<double> value) {
  return value.has_value() && std::isfinite(*value) ? Json(*value) : Json();
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
                       {"message", outcome.message.empty() ? status.message : outcome.message}};
  return report.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::string> ChangeLines(const JobStatus& before, const JobStatus& after) {
  std::vector<std::string> lines;
  if (after.state != before.state || after.ready != before.ready) {
    std::string line = std::string(JobStateName(after.state));
    if (!after.ready.empty()) line += ", " + after.ready + " ready";
    lines.push_back(std::move(line));
  }
  if (after.message != before.message && !after.message.empty()) lines.push_back(after.message);
  for (const auto& [cause, count] : after.restarts) {
    const auto old = before.restarts.find(cause);
    if (old != before.restarts.end() && old->second >= count) continue;
    lines.push_back("restart " + std::to_string(Total(after.restarts)) + ", cause " +
                    std::string(RestartCauseName(cause)));
  }
  return lines;
}

std::string ProgressLine(const JobStatus& status) {
  if (!status.progress.has_value()) return "";
  const Progress& progress = *status.progress;
  std::string line = "step " + std::to_string(progress.step) + "/" +
                     std::to_string(progress.max_steps) + " (" +
                     std::to_string(progress.percent) + " %)";
  if (progress.loss.has_value()) line += ", loss " + Short(*progress.loss);
  if (progress.examples_per_second > 0) {
    line += ", " + std::to_string(std::llround(progress.examples_per_second)) + " examples/s";
  }
  if (progress.eta_seconds.has_value()) {
    line += ", " + std::to_string(*progress.eta_seconds) + " s left";
  }
  return line;
}

std::string ProgressBar(const JobStatus& status) {
  const int percent = status.progress.has_value() ? status.progress->percent : 0;
  const int full = std::clamp(percent, 0, 100) * kBarWidth / 100;
  return "[" + std::string(static_cast<size_t>(full), '#') +
         std::string(static_cast<size_t>(kBarWidth - full), '.') + "] " + ProgressLine(status);
}

}  // namespace taas
