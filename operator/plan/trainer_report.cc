#include "operator/plan/trainer_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "operator/api/json_depth.h"
#include "operator/base/last_words.h"
#include "operator/base/plain_text.h"
#include "operator/base/utf8.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;

// Of each text: a message is a sentence, the name of a source a path. What is longer is cut.
constexpr size_t kTextBytesMax = 4 << 10;
// What every program that reads JSON reads exactly; the API server's own take no more either.
constexpr int64_t kWholeMax = int64_t{1} << 53;

int64_t CountOf(double value) {
  return static_cast<int64_t>(std::clamp(value, 0.0, static_cast<double>(kWholeMax)));
}

// Takes the few fields of the contract out of a page and makes nothing of the rest: a page of a
// program of the user's may be as wide and as deep as it likes, and costs the time to read it.
class ReportReader : public nlohmann::json_sax<json> {
 public:
  // Nothing: the text is no object, or nested too deeply.
  static std::optional<TrainerReport> Read(std::string_view text) {
    ReportReader reader;
    if (!json::sax_parse(text, &reader) || !reader.is_object_) return std::nullopt;
    if (reader.measured_) reader.report_.evaluation = reader.evaluation_;
    reader.report_.gpus = reader.gpus_.sums();
    reader.report_.rank_times = reader.ranks_.Take();
    reader.report_.checkpoints = reader.checkpoints_.Take();
    return std::move(reader.report_);
  }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  // Counts may come as 4 or as 4.0; those that are out of all bounds are the nearest that is not.
  bool number_integer(int64_t value) override {
    return Number(static_cast<double>(value), std::clamp<int64_t>(value, 0, kWholeMax));
  }
  bool number_unsigned(uint64_t value) override {
    return Number(static_cast<double>(value),
                  static_cast<int64_t>(std::min(value, static_cast<uint64_t>(kWholeMax))));
  }
  bool number_float(double value, const std::string&) override {
    return !std::isfinite(value) || Number(value, CountOf(value));
  }
  bool string(std::string& value) override {
    if (depth_ == 1) {
      if (key_ == "uid") report_.uid = Text(value);
      if (key_ == "state") report_.state = Text(value);
      if (key_ == "message") report_.message = Text(value);
    } else if (In("data") && key_ == "source") {
      report_.data_source = Text(value);
    }
    gpus_.Text(depth_, value);
    ranks_.Text(depth_, value);
    checkpoints_.Text(depth_, value);
    return true;
  }
  bool binary(json::binary_t&) override { return true; }
  bool start_object(size_t) override {
    if (++depth_ == 1) is_object_ = true;
    if (depth_ == 2) part_ = key_;
    gpus_.Enter(depth_, /*list=*/false);
    ranks_.Enter(depth_, /*list=*/false);
    checkpoints_.Enter(depth_, /*list=*/false);
    return depth_ <= kJsonDepthMax;
  }
  bool key(std::string& name) override {
    if (depth_ <= 2) key_ = name.size() <= kNameBytesMax ? name : std::string();
    gpus_.Key(depth_, name);
    ranks_.Key(depth_, name);
    checkpoints_.Key(depth_, name);
    return true;
  }
  bool end_object() override { return Leave(); }
  bool start_array(size_t) override {
    if (++depth_ == 2) part_.clear();
    gpus_.Enter(depth_, /*list=*/true);
    ranks_.Enter(depth_, /*list=*/true);
    checkpoints_.Enter(depth_, /*list=*/true);
    return depth_ <= kJsonDepthMax;
  }
  bool end_array() override { return Leave(); }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  // No name of the contract is as long.
  static constexpr size_t kNameBytesMax = 32;

  static std::string Text(std::string_view value) {
    return PlainText(CutToCharacter(value, kTextBytesMax));
  }
  bool Leave() {
    gpus_.Leave(depth_);
    ranks_.Leave(depth_);
    checkpoints_.Leave(depth_);
    --depth_;
    return true;
  }
  // kubectl prints all digits of a number; those of a float beyond the sixth say nothing.
  static double Short(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return std::strtod(text, nullptr);
  }
  // Within the object that the page has under this name.
  bool In(std::string_view part) const { return depth_ == 2 && part_ == part; }

  bool Number(double value, int64_t count) {
    gpus_.Number(depth_, value);
    ranks_.Number(depth_, value);
    checkpoints_.Number(depth_, count);
    if (depth_ == 1) {
      if (key_ == "step") report_.step = count;
      if (key_ == "maxSteps") report_.max_steps = count;
      if (key_ == "etaSeconds") report_.eta_seconds = count;
      if (key_ == "loss") report_.loss = Short(value);
      if (key_ == "examplesPerSecond") report_.examples_per_second = std::max(value, 0.0);
    } else if (In("evaluation")) {
      if (key_ == "step") evaluation_.step = count;
      if (key_ == "examples") evaluation_.examples = count;
      if (key_ == "accuracy") evaluation_.accuracy = Short(value);
      if (key_ == "loss") evaluation_.loss = Short(value);
      measured_ = measured_ || key_ == "accuracy" || key_ == "loss";
    }
    return true;
  }

  TrainerReport report_;
  Evaluation evaluation_;
  bool measured_ = false;
  bool is_object_ = false;
  int depth_ = 0;
  std::string key_;   // The last one, of the page itself or of an object in it.
  std::string part_;  // Of the page; the object under it is being read.
  GpuReader gpus_;
  RankReader ranks_;
  CheckpointReader checkpoints_;
};

}  // namespace

std::optional<TrainerReport> ParseTrainerReport(std::string_view text) {
  return ReportReader::Read(text);
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
