#include "trainer/status/step_log.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "operator/base/log.h"
#include "third_party/json.h"

namespace taas {
namespace {

// The rate is renewed this often: short enough for /status, long enough to be steady.
constexpr Clock::Duration kRateEvery = std::chrono::milliseconds(1'000);
// The first value comes sooner, but not from a single step.
constexpr Clock::Duration kFirstRateAfter = std::chrono::milliseconds(100);
constexpr int kBarWidth = 40;
// A step that takes less lets nobody wonder whether anything happens.
constexpr Clock::Duration kLongStep = std::chrono::seconds(1);

double Seconds(Clock::Duration duration) { return std::chrono::duration<double>(duration).count(); }

template <typename... Args>
std::string Format(const char* format, Args... args) {
  char text[256];
  std::snprintf(text, sizeof(text), format, args...);
  return text;
}

// More digits behind the point than this say nothing of a float.
constexpr int kDigitsMax = 12;

// With `digits` behind the point, or as many as show one more that counts: a small loss is not
// "0.00". Without an exponent, which scripts do not expect.
std::string LossText(double loss, int digits) {
  if (std::isfinite(loss) && loss != 0) {
    const int leading = static_cast<int>(std::floor(std::log10(std::fabs(loss))));
    digits = std::clamp(digits - leading, digits, kDigitsMax);
  }
  return Format("%.*f", digits, loss);
}

}  // namespace

void StepLog::Start(int64_t step) {
  line_time_ = rate_time_ = clock_.Now();
  line_step_ = rate_step_ = step;
}

void StepLog::Start(int64_t step, int64_t batch_size) {
  options_.batch_size = batch_size;
  Start(step);
}

double StepLog::OnStep(int64_t step, double loss) {
  const Clock::Time now = clock_.Now();
  const double batch = static_cast<double>(options_.batch_size);
  const Clock::Duration every = rate_ == 0 ? kFirstRateAfter : kRateEvery;
  if (step > rate_step_ && now - rate_time_ >= every) {
    rate_ = static_cast<double>(step - rate_step_) * batch / Seconds(now - rate_time_);
    rate_time_ = now;
    rate_step_ = step;
  }
  options_.also(step, loss, rate_);
  const bool due = step / options_.every > line_step_ / options_.every;
  if (step > line_step_ && (due || step >= options_.max_steps)) {
    WriteLine(step, loss);
  } else if (!first_told_) {
    TellFirst(step);
  }
  first_told_ = true;
  return rate_;
}

void StepLog::TellFirst(int64_t step) {
  const Clock::Duration took = clock_.Now() - line_time_;
  if (step != line_step_ + 1 || took < kLongStep) return;
  Log(LogLevel::kInfo,
      "step " + std::to_string(step) + " took " + Format("%.1f s", Seconds(took)),
      {{"next line", "step " + std::to_string((step / options_.every + 1) * options_.every)}});
}

void StepLog::WriteLine(int64_t step, double loss) {
  const Clock::Time now = clock_.Now();
  const double batch = static_cast<double>(options_.batch_size);
  const double seconds = std::max(Seconds(now - line_time_), 1e-9);
  const double steps = static_cast<double>(step - line_step_);
  line_time_ = now;
  line_step_ = step;
  if (options_.json) {
    nlohmann::json json = {{"step", step},
                           {"examplesPerSecond", steps * batch / seconds},
                           {"secondsPerBatch", seconds / steps},
                           {"time", FormatRfc3339Micro(clock_.WallNow())}};
    if (std::isfinite(loss)) json["loss"] = loss;
    Write(json.dump() + "\n");
  }
  if (options_.terminal) {
    DrawBar(step, loss);
  } else {
    Write(Format("step %lld, loss = %s (%.1f examples/sec; %.3f sec/batch)\n",
                 static_cast<long long>(step), LossText(loss, 2).c_str(), steps * batch / seconds,
                 seconds / steps));
  }
}

void StepLog::OnEvaluation(const Evaluation& evaluation) {
  if (bar_drawn_) Write("\n");
  bar_drawn_ = false;
  if (options_.json) {
    nlohmann::json json = {{"evaluation", true},
                           {"step", evaluation.step},
                           {"loss", evaluation.loss},
                           {"examples", evaluation.examples}};
    if (evaluation.accuracy) json["accuracy"] = *evaluation.accuracy;
    if (evaluation.perplexity) json["perplexity"] = *evaluation.perplexity;
    Write(json.dump() + "\n");
  }
  std::string line = "evaluation at step " + std::to_string(evaluation.step) + ": ";
  if (evaluation.accuracy) line += Format("accuracy = %.4f, ", *evaluation.accuracy);
  if (evaluation.perplexity) line += Format("perplexity = %.5g, ", *evaluation.perplexity);
  Write(line + "loss = " + LossText(evaluation.loss, 4) +
        Format(" (%lld examples)\n", static_cast<long long>(evaluation.examples)));
}

void StepLog::DrawBar(int64_t step, double loss) {
  const double share =
      std::min(1.0, static_cast<double>(step) / static_cast<double>(options_.max_steps));
  const int filled = static_cast<int>(share * kBarWidth);
  Write("\r[" + std::string(static_cast<size_t>(filled), '#') +
        std::string(static_cast<size_t>(kBarWidth - filled), ' ') +
        Format("] %3.0f%% step %lld, loss = %s (%.0f examples/sec) ", share * 100,
               static_cast<long long>(step), LossText(loss, 2).c_str(), rate_));
  bar_drawn_ = true;
}

void StepLog::Write(const std::string& text) {
  // One call per line, so that lines of several processes on one terminal stay whole.
  const ssize_t written = write(options_.fd, text.data(), text.size());
  static_cast<void>(written);
}

}  // namespace taas
