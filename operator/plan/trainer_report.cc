#include "operator/plan/trainer_report.h"

#include <algorithm>
#include <cmath>

#include "operator/plan/last_words.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;

std::string TextAt(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Counts may come as 4 or as 4.0.
std::optional<int64_t> CountAt(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  if (found->is_number_integer()) return found->get<int64_t>();
  const double value = found->get<double>();
  if (!(std::abs(value) < 9e18)) return std::nullopt;
  return static_cast<int64_t>(value);
}

std::optional<double> NumberAt(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
}

}  // namespace

std::optional<TrainerReport> ParseTrainerReport(std::string_view text) {
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return std::nullopt;
  TrainerReport report;
  report.uid = TextAt(object, "uid");
  report.state = TextAt(object, "state");
  report.message = TextAt(object, "message");
  report.step = CountAt(object, "step");
  report.max_steps = CountAt(object, "maxSteps");
  report.loss = NumberAt(object, "loss");
  report.examples_per_second = NumberAt(object, "examplesPerSecond");
  report.eta_seconds = CountAt(object, "etaSeconds");
  const auto evaluation = object.find("evaluation");
  if (evaluation != object.end() && evaluation->is_object()) {
    const auto accuracy = NumberAt(*evaluation, "accuracy");
    const auto loss = NumberAt(*evaluation, "loss");
    if (accuracy || loss) {
      report.evaluation = Evaluation{.step = CountAt(*evaluation, "step").value_or(0),
                                     .accuracy = accuracy.value_or(0),
                                     .loss = loss.value_or(0),
                                     .examples = CountAt(*evaluation, "examples").value_or(0)};
    }
  }
  const auto data = object.find("data");
  if (data != object.end() && data->is_object()) report.data_source = TextAt(*data, "source");
  return report;
}

Progress MergeProgress(const std::optional<Progress>& before, const TrainerReport& report,
                       int64_t max_steps) {
  Progress progress = before.value_or(Progress{});
  if (report.step) progress.step = std::max<int64_t>(0, *report.step);
  progress.max_steps = report.max_steps.value_or(max_steps > 0 ? max_steps : progress.max_steps);
  if (progress.max_steps > 0) {
    const double share =
        static_cast<double>(progress.step) / static_cast<double>(progress.max_steps);
    progress.percent = static_cast<int32_t>(std::clamp(std::floor(100 * share), 0.0, 100.0));
  }
  if (report.examples_per_second) progress.examples_per_second = *report.examples_per_second;
  if (report.loss) progress.loss = report.loss;
  progress.eta_seconds = report.eta_seconds;
  if (report.evaluation) progress.evaluation = report.evaluation;
  if (!report.data_source.empty()) progress.data_source = report.data_source;
  return progress;
}

std::string MessageOfTermination(std::string_view termination_message) {
  const auto report = ParseTrainerReport(termination_message);
  return LastWords(report ? report->message : termination_message);
}

}  // namespace taas
