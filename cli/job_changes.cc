#include "cli/job_changes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace taas {
namespace {

constexpr int kBarWidth = 30;

std::string Short(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

// Its pods that have done their work are ready no more, and need not be.
bool IsOver(JobState state) {
  return state == JobState::kSucceeded || state == JobState::kFailed;
}

int32_t Total(const std::map<RestartCause, int32_t>& restarts) {
  int32_t total = 0;
  for (const auto& [cause, count] : restarts) total += count;
  return total;
}

}  // namespace

std::vector<std::string> ChangeLines(const JobStatus& before, const JobStatus& after) {
  std::vector<std::string> lines;
  const bool ready_changed = after.ready != before.ready && !IsOver(after.state);
  if (after.state != before.state || ready_changed) {
    std::string line = std::string(JobStateName(after.state));
    if (!after.ready.empty() && !IsOver(after.state)) line += ", " + after.ready + " ready";
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
  std::string line = "step " + std::to_string(progress.step);
  if (progress.max_steps > 0) {
    line += "/" + std::to_string(progress.max_steps) + " (" + std::to_string(progress.percent) +
            " %)";
  }
  if (progress.loss.has_value()) line += ", loss " + Short(*progress.loss);
  if (progress.examples_per_second > 0) {
    line += ", " + std::to_string(std::llround(progress.examples_per_second)) + " examples/s";
  }
  // What was estimated before a job was suspended or restarts says nothing of when it ends.
  if (progress.eta_seconds.has_value() && status.state == JobState::kRunning) {
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
