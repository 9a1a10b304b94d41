#include "cli/describe_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "cli/job_changes.h"
#include "cli/job_facts.h"
#include "cli/job_table.h"
#include "cli/table.h"
#include "operator/api/dialect.h"
#include "operator/api/json_field.h"
#include "operator/base/last_words.h"
#include "operator/kube/log_container.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// More than a screen of events hides what is above them.
constexpr size_t kEventsMax = 25;

std::string Text(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string TimeText(const std::optional<Clock::WallTime>& time, Clock::WallTime now) {
  if (!time.has_value()) return "";
  return FormatRfc3339(*time) + ", " + FormatSince(time, now) + " ago";
}

// "accuracy 0.954, loss 0.182 at step 2000"; a regression has no accuracy, a text a perplexity.
std::string EvaluationText(const Job& job, const Evaluation& evaluation) {
  std::string text;
  const auto add = [&text](const char* what, const std::optional<double>& value) {
    if (!value.has_value()) return;
    char words[48];
    std::snprintf(words, sizeof words, "%s%s %.4g", text.empty() ? "" : ", ", what, *value);
    text += words;
  };
  add("accuracy", evaluation.accuracy);
  add("perplexity", PerplexityOf(job, evaluation));
  add("loss", evaluation.loss);
  return text.empty() ? "" : text + " at step " + std::to_string(evaluation.step);
}

std::string PhaseOf(const Pod& pod) {
  if (pod.meta.deletion_time.has_value()) return "Terminating";
  if (!pod.waiting_reason.empty()) return pod.waiting_reason;
  switch (pod.phase) {
    case PodPhase::kPending:
      return pod.unschedulable_reason.empty() ? "Pending" : pod.unschedulable_reason.str();
    case PodPhase::kRunning:
      return pod.ready ? "Running" : "Starting";
    case PodPhase::kSucceeded:
      return "Completed";
    case PodPhase::kFailed:
      return pod.reason.empty() ? "Failed" : pod.reason.str();
    case PodPhase::kUnknown:
      break;
  }
  return "Unknown";
}

// What a program said last: of many lines the last one is the error.
std::string LastWordOf(const std::string& termination_message) {
  const absl::StatusOr<nlohmann::json> report = ParseJsonObject(termination_message);
  return LastLine(report.ok() ? Text(*report, "message") : termination_message);
}

// A line of what is known about why this pod is as it is.
std::string NoteOf(const Pod& pod) {
  if (const InitContainer* const init = LogInit(pod); init != nullptr) {
    std::string note = LastWordOf(init->termination_message);
    if (note.empty()) note = LastWordOf(init->last_termination_message);
    if (note.empty()) note = init->waiting_message;
    return "init container " + init->name + (note.empty() ? "" : ": " + note);
  }
  if (pod.phase == PodPhase::kFailed) {
    std::string note = LastWordOf(pod.termination_message);
    if (!note.empty()) return note;
  }
  std::string note = pod.waiting_message;
  if (note.empty()) note = pod.unschedulable_message;
  if (note.empty()) note = pod.message;
  if (note.empty()) return LastWordOf(pod.termination_message);
  return note.substr(0, note.find('\n'));
}

// Of the main container, else of the init container that keeps it from beginning.
std::string ExitOf(const Pod& pod) {
  std::optional<int32_t> code = pod.exit_code;
  if (!code.has_value() && pod.init != nullptr) code = pod.init->exit_code;
  return code.has_value() ? std::to_string(*code) : "";
}

std::string RestartsText(const JobStatus& status) {
  int32_t total = 0;
  std::string causes;
  for (const auto& [cause, count] : status.restarts) {
    if (count == 0) continue;
    total += count;
    causes += (causes.empty() ? "" : ", ") + std::string(RestartCauseName(cause)) + " " +
              std::to_string(count);
  }
  return std::to_string(total) + (causes.empty() ? "" : " (" + causes + ")");
}

std::string Summary(const JobDescription& description) {
  const SeenJob& job = description.job;
  const JobStatus& status = job.status;
  const Dialect& dialect = DialectOf(job.kind);
  const bool over = status.state == JobState::kSucceeded || status.state == JobState::kFailed;
  const std::string ready = over || status.ready.empty() ? "" : ", " + status.ready + " ready";
  Rows rows = {{"Name:", job.meta.name},
               {"Namespace:", job.meta.ns},
               {"Kind:", std::string(dialect.kind_name) + " (" +
                             std::string(dialect.group_version) + ")"},
               {"State:", job.StateName() + ready}};
  if (job.status_known) {
    rows.push_back({"Attempt:", std::to_string(status.attempt)});
    rows.push_back({"Restarts:", RestartsText(status)});
  }
  const auto add = [&](const char* title, const std::string& text) {
    if (!text.empty()) rows.push_back({title, text});
  };
  add("Progress:", ProgressLine(status));
  if (status.progress.has_value() && status.progress->evaluation.has_value()) {
    add("Evaluation:", EvaluationText(job, *status.progress->evaluation));
  }
  if (description.checkpoints.has_value()) {
    add("Checkpoints:", PlaceText(*description.checkpoints));
    add("Their folder:", description.checkpoints->folder);
  }
  add("Created:", TimeText(job.meta.creation_time, description.now));
  add("Started:", TimeText(status.start_time, description.now));
  add("Ended:", TimeText(status.completion_time, description.now));
  return FormatTable(rows);
}

// That it runs is not what there is to know of a job that is killed again and again.
std::string Headline(const JobDescription& description) {
  const SeenJob& job = description.job;
  const std::string why = WhySentence(job, description.no_operator);
  const std::string memory =
      job.HasEnded() || !job.status_known ? "" : OutOfMemoryText(job, description.now);
  if (memory.empty()) return why;
  return job.meta.name + ": " + memory +
         "; raise resources.limits.memory of its role, or give it less to hold (batchSize, the "
         "model). Now " + why;
}

std::string Replicas(const JobDescription& description) {
  const Job& job = description.job;
  Rows rows = {{"REPLICA", "STATE", "POD", "NODE", "EXIT", "NOTE"}};
  for (const auto& [role, spec] : job.spec.roles) {
    for (int32_t index = 0; index < spec.replicas; ++index) {
      const std::string replica(std::string(RoleNameIn(job, role)) + "-" + std::to_string(index));
      const auto pod = std::find_if(
          description.pods.begin(), description.pods.end(),
          [&](const Pod& p) { return p.role == role && p.index == index; });
      if (pod == description.pods.end()) {
        rows.push_back({replica, "no pod"});
        continue;
      }
      rows.push_back({replica, PhaseOf(*pod), pod->meta.name, pod->node, ExitOf(*pod),
                      NoteOf(*pod)});
    }
  }
  return FormatTable(rows, "  ");
}

std::string History(const JobDescription& description) {
  Rows rows = {{"WHEN", "REPLICA", "CAUSE", "EXIT", "POD", "NODE", "MESSAGE"}};
  for (const RestartRecord& record : description.job.status.history) {
    rows.push_back({FormatSince(record.time, description.now) + " ago",
                    std::string(RoleNameIn(description.job, record.role)) + "-" +
                        std::to_string(record.index),
                    std::string(RestartCauseName(record.cause)),
                    record.exit_code.has_value() ? std::to_string(*record.exit_code) : "",
                    std::to_string(record.attempt) + "." + std::to_string(record.pod_number),
                    record.node, record.message});
  }
  return FormatTable(rows, "  ");
}

std::string Conditions(const JobDescription& description) {
  Rows rows = {{"TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"}};
  for (const Condition& condition : description.job.status.conditions) {
    rows.push_back({condition.type, condition.status ? "True" : "False",
                    FormatSince(condition.last_transition_time, description.now), condition.reason,
                    condition.message});
  }
  return FormatTable(rows, "  ");
}

std::string Events(const JobDescription& description) {
  std::vector<JobEvent> events = description.events;
  std::stable_sort(events.begin(), events.end(),
                   [](const JobEvent& a, const JobEvent& b) { return a.time < b.time; });
  const size_t left_out = events.size() > kEventsMax ? events.size() - kEventsMax : 0;
  events.erase(events.begin(), events.begin() + static_cast<ptrdiff_t>(left_out));
  Rows rows = {{"LAST", "TYPE", "REASON", "OBJECT", "MESSAGE"}};
  for (const JobEvent& event : events) {
    rows.push_back({FormatSince(event.time, description.now),
                    event.warning ? "Warning" : "Normal",
                    event.reason + (event.count > 1 ? " x" + std::to_string(event.count) : ""),
                    event.object, event.message});
  }
  std::string text = FormatTable(rows, "  ");
  if (left_out > 0) text += "  (" + std::to_string(left_out) + " earlier ones are not shown)\n";
  return text;
}

}  // namespace

std::optional<JobEvent> ReadEvent(std::string_view json, const Job& job,
                                  const std::vector<std::string>& uids) {
  const absl::StatusOr<nlohmann::json> parsed = ParseJsonObject(json);
  if (!parsed.ok()) return std::nullopt;
  const nlohmann::json& event = *parsed;
  if (!event.contains("involvedObject")) return std::nullopt;
  const nlohmann::json& about = event["involvedObject"];
  if (!about.is_object()) return std::nullopt;
  const std::string uid = Text(about, "uid");
  const bool of_job = uid == job.meta.uid;
  if (uid.empty() || (!of_job && std::find(uids.begin(), uids.end(), uid) == uids.end())) {
    return std::nullopt;
  }
  JobEvent out{.warning = Text(event, "type") == "Warning",
               .reason = Text(event, "reason"),
               .message = Text(event, "message"),
               .object = of_job ? "" : Text(about, "kind") + "/" + Text(about, "name")};
  if (event.contains("count") && event["count"].is_number_integer()) out.count = event["count"];
  for (const char* key : {"lastTimestamp", "eventTime", "firstTimestamp"}) {
    Clock::WallTime time;
    if (!out.time.has_value() && ParseRfc3339(Text(event, key), &time)) out.time = time;
  }
  return out;
}

std::string DescribeText(const JobDescription& description) {
  const JobStatus& status = description.job.status;
  std::string text = Headline(description) + "\n\n" + Summary(description);
  text += "\nReplicas:\n" + Replicas(description);
  if (!status.history.empty()) text += "\nRestarts, newest last:\n" + History(description);
  if (!status.conditions.empty()) text += "\nConditions:\n" + Conditions(description);
  text += description.events.empty() ? "\nEvents: none\n" : "\nEvents:\n" + Events(description);
  return text;
}

}  // namespace taas
