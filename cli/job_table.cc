#include "cli/job_table.h"

#include <algorithm>

namespace taas {
namespace {

std::string StepOf(const Job& job) {
  if (!job.status.progress.has_value()) return "-";
  const Progress& progress = *job.status.progress;
  std::string text = std::to_string(progress.step);
  if (progress.max_steps > 0) text += "/" + std::to_string(progress.max_steps);
  return text;
}

std::string AgeOf(const Job& job, Clock::WallTime now) {
  if (!job.meta.creation_time.has_value()) return "-";
  return FormatAge(
      std::chrono::duration_cast<std::chrono::seconds>(now - *job.meta.creation_time));
}

std::vector<std::string> RowOf(const Job& job, Clock::WallTime now, bool with_namespace) {
  int32_t restarts = 0;
  for (const auto& [cause, count] : job.status.restarts) restarts += count;
  std::vector<std::string> row;
  if (with_namespace) row.push_back(job.meta.ns);
  row.push_back(job.meta.name);
  row.emplace_back(JobStateName(job.status.state));
  row.push_back(job.status.ready.empty() ? "-" : job.status.ready);
  row.push_back(StepOf(job));
  row.push_back(job.status.progress.has_value()
                    ? std::to_string(job.status.progress->percent) + "%"
                    : "-");
  row.push_back(std::to_string(restarts));
  row.push_back(AgeOf(job, now));
  return row;
}

}  // namespace

std::string FormatAge(std::chrono::seconds age) {
  const int64_t seconds = std::max<int64_t>(0, age.count());
  if (seconds < 120) return std::to_string(seconds) + "s";
  if (seconds < 2 * 3600) return std::to_string(seconds / 60) + "m";
  if (seconds < 48 * 3600) return std::to_string(seconds / 3600) + "h";
  return std::to_string(seconds / 86'400) + "d";
}

std::string FormatJobTable(const std::vector<Job>& jobs, Clock::WallTime now,
                           bool with_namespace) {
  std::vector<std::vector<std::string>> rows(1);
  if (with_namespace) rows[0].push_back("NAMESPACE");
  for (const char* title : {"NAME", "STATE", "READY", "STEP", "PROGRESS", "RESTARTS", "AGE"}) {
    rows[0].push_back(title);
  }
  for (const Job& job : jobs) rows.push_back(RowOf(job, now, with_namespace));
  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] - row[i].size() + 3, ' ');
    }
    text += '\n';
  }
  return text;
}

}  // namespace taas
