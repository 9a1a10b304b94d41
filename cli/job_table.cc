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

std::vector<std::string> RowOf(const SeenJob& job, Clock::WallTime now,
                               const JobTableOptions& options) {
  int32_t restarts = 0;
  for (const auto& [cause, count] : job.status.restarts) restarts += count;
  std::vector<std::string> row;
  if (options.with_namespace) row.push_back(job.meta.ns);
  row.push_back(job.meta.name);
  if (options.wide) row.emplace_back(DialectOf(job.kind).kind_name);
  row.push_back(job.meta.deletion_time.has_value() ? "Terminating" : job.StateName());
  row.push_back(job.status.ready);
  row.push_back(StepOf(job));
  // Of a program that does not say how far it has to go there is no share.
  const bool has_share = job.status.progress.has_value() && job.status.progress->max_steps > 0;
  row.push_back(has_share ? std::to_string(job.status.progress->percent) + "%" : "-");
  row.push_back(job.status_known ? std::to_string(restarts) : "");
  row.push_back(FormatSince(job.meta.creation_time, now));
  if (options.wide) {
    row.push_back(ReplicasOf(job));
    row.push_back(job.spec_known ? std::to_string(GpusOf(job)) : "");
    row.push_back(job.status_known ? job.status.message : std::string(job.unreadable.message()));
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

std::string FormatJobTable(const std::vector<SeenJob>& jobs, Clock::WallTime now,
                           const JobTableOptions& options) {
  std::vector<std::vector<std::string>> rows;
  if (options.headers) rows.push_back(HeaderOf(options));
  for (const SeenJob& job : jobs) rows.push_back(RowOf(job, now, options));
  return FormatTable(rows);
}

bool WasNeverSeen(const JobStatus& status) {
  return status.observed_generation == 0 && status.conditions.empty();
}

std::string WhySentence(const SeenJob& job, const std::string& no_operator) {
  const JobStatus& status = job.status;
  if (job.meta.deletion_time.has_value()) return job.meta.name + " is being deleted.";
  if (!job.status_known) {
    return job.meta.name + " cannot be read: " + std::string(job.unreadable.message()) + ".";
  }
  std::string state(JobStateName(status.state));
  state[0] = static_cast<char>(state[0] + ('a' - 'A'));
  std::string sentence = job.meta.name + (job.HasEnded() ? " has " : " is ") + state;
  std::string why = status.message;
  // The operator's sentence names the field; who reads this has the verb.
  const bool plainly = why.empty() || why.rfind("the job is suspended; it goes on when", 0) == 0;
  if (status.state == JobState::kSuspended && job.spec.suspend && plainly) {
    return sentence + "; `taas resume " + job.meta.name + "` lets it go on.";
  }
  if (why.empty() && status.state == JobState::kRunning) why = ProgressLine(status);
  if (why.empty() && WasNeverSeen(status)) {
    why = "no operator has seen it yet; " +
          (no_operator.empty() ? "`taas doctor` says whether one runs" : no_operator);
  }
  if (why.empty()) why = ConditionMessage(status);
  if (!why.empty()) sentence += ": " + why;
  if (sentence.back() != '.') sentence += ".";
  return sentence;
}

}  // namespace taas
