#include "cli/job_table.h"

#include <algorithm>

#include "cli/job_changes.h"
#include "cli/table.h"
#include "operator/api/dialect.h"

namespace taas {
namespace {

std::string StepOf(const Job& job) {
  if (!job.status.progress.has_value()) return "-";
  const Progress& progress = *job.status.progress;
  std::string text = std::to_string(progress.step);
  if (progress.max_steps > 0) text += "/" + std::to_string(progress.max_steps);
  return text;
}

// "chief 1, ps 2, worker 4"
std::string ReplicasOf(const Job& job) {
  std::string text;
  for (const auto& [role, spec] : job.spec.roles) {
    text += (text.empty() ? "" : ", ") + std::string(RoleNameIn(job, role)) + " " +
            std::to_string(spec.replicas);
  }
  return text;
}

int64_t GpusOf(const Job& job) {
  int64_t gpus = 0;
  for (const auto& [role, spec] : job.spec.roles) gpus += int64_t{spec.replicas} * spec.GpusHeld();
  return gpus;
}

std::vector<std::string> RowOf(const Job& job, Clock::WallTime now,
                               const JobTableOptions& options) {
  int32_t restarts = 0;
  for (const auto& [cause, count] : job.status.restarts) restarts += count;
  std::vector<std::string> row;
  if (options.with_namespace) row.push_back(job.meta.ns);
  row.push_back(job.meta.name);
  if (options.wide) row.emplace_back(DialectOf(job.kind).kind_name);
  row.emplace_back(job.meta.deletion_time.has_value() ? "Terminating"
                                                      : JobStateName(job.status.state));
  row.push_back(job.status.ready);
  row.push_back(StepOf(job));
  row.push_back(job.status.progress.has_value()
                    ? std::to_string(job.status.progress->percent) + "%"
                    : "-");
  row.push_back(std::to_string(restarts));
  row.push_back(FormatSince(job.meta.creation_time, now));
  if (options.wide) {
    row.push_back(ReplicasOf(job));
    row.push_back(std::to_string(GpusOf(job)));
    row.push_back(job.status.message);
  }
  return row;
}

std::vector<std::string> HeaderOf(const JobTableOptions& options) {
  std::vector<std::string> header;
  if (options.with_namespace) header.emplace_back("NAMESPACE");
  header.emplace_back("NAME");
  if (options.wide) header.emplace_back("KIND");
  for (const char* title : {"STATE", "READY", "STEP", "PROGRESS", "RESTARTS", "AGE"}) {
    header.emplace_back(title);
  }
  if (options.wide) header.insert(header.end(), {"REPLICAS", "GPUS", "MESSAGE"});
  return header;
}

// What the last condition that holds says, for a status that has no message of its own.
std::string ConditionMessage(const JobStatus& status) {
  for (auto it = status.conditions.rbegin(); it != status.conditions.rend(); ++it) {
    if (it->status && !it->message.empty()) return it->message;
  }
  return "";
}

}  // namespace

std::string FormatAge(std::chrono::seconds age) {
  const int64_t seconds = std::max<int64_t>(0, age.count());
  if (seconds < 120) return std::to_string(seconds) + "s";
  if (seconds < 2 * 3600) return std::to_string(seconds / 60) + "m";
  if (seconds < 48 * 3600) return std::to_string(seconds / 3600) + "h";
  return std::to_string(seconds / 86'400) + "d";
}

std::string FormatSince(const std::optional<Clock::WallTime>& then, Clock::WallTime now) {
  if (!then.has_value()) return "-";
  return FormatAge(std::chrono::duration_cast<std::chrono::seconds>(now - *then));
}

std::string FormatJobTable(const std::vector<Job>& jobs, Clock::WallTime now,
                           const JobTableOptions& options) {
  std::vector<std::vector<std::string>> rows;
  if (options.headers) rows.push_back(HeaderOf(options));
  for (const Job& job : jobs) rows.push_back(RowOf(job, now, options));
  return FormatTable(rows);
}

std::string WhySentence(const Job& job) {
  const JobStatus& status = job.status;
  if (job.meta.deletion_time.has_value()) return job.meta.name + " is being deleted.";
  std::string sentence = job.meta.name + (status.state == JobState::kSucceeded ||
                                                  status.state == JobState::kFailed
                                              ? " has "
                                              : " is ");
  std::string state(JobStateName(status.state));
  state[0] = static_cast<char>(state[0] + ('a' - 'A'));
  sentence += state;
  std::string why = status.message;
  if (why.empty() && status.state == JobState::kRunning) why = ProgressLine(status);
  if (why.empty() && status.observed_generation == 0 && status.conditions.empty()) {
    why = "no operator has seen it yet; `taas doctor` says whether one runs";
  }
  if (why.empty()) why = ConditionMessage(status);
  if (!why.empty()) sentence += ": " + why;
  if (sentence.back() != '.') sentence += ".";
  return sentence;
}

}  // namespace taas
