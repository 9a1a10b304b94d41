#include "cli/logs.h"

#include <future>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include "cli/find_checkpoints.h"
#include "cli/job_changes.h"
#include "cli/job_facts.h"
#include "cli/job_ref.h"
#include "cli/verbs.h"
#include "operator/base/command_line.h"
#include "operator/base/status.h"
#include "operator/kube/api_path.h"
#include "operator/kube/log_container.h"
#include "operator/kube/log_line.h"

namespace taas {
namespace {

struct LogsFlags {
  ClusterFlags cluster;
  std::string job;
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::string role;
  int index = -1;
  std::string since;
  int64_t tail = -1;
};

std::string SinceTime(const LogsFlags& flags, Clock::WallTime now) {
  return flags.since.empty() ? "" : FormatRfc3339(now - *ParseDuration(flags.since));
}

std::string TailLines(const LogsFlags& flags) {
  return flags.tail < 0 ? "" : std::to_string(flags.tail);
}

absl::Status PrintLogs(const CommandIo& io, ApiClient& api, const LogsFlags& flags,
                       const Job& job, const ReplicaFilter& filter) {
  ASSIGN_OR_RETURN(const std::vector<JobPod> pods, PodsOf(api, job));
  std::vector<ReplicaLog> logs;
  size_t wanted = 0;
  for (const JobPod& pod : pods) {
    if (!filter.Wants(pod.pod)) continue;
    ++wanted;
    if (!MayHaveLog(pod.pod)) {
      io.err << pod.pod.meta.name << " has not started.\n";
      continue;
    }
    const std::string path =
        SubresourcePath(Resource::kPods, job.meta.ns, pod.pod.meta.name, "log");
    const std::string container = LogContainerOf(pod.pod, ContainerNames(pod.json), job.kind);
    absl::StatusOr<std::string> text =
        api.Get(WithQuery(path, {{"container", container},
                                 {"timestamps", "true"},
                                 {"previous", flags.previous ? "true" : ""},
                                 {"sinceTime", SinceTime(flags, api.clock().WallNow())},
                                 {"tailLines", TailLines(flags)}}),
                "read log of pod " + job.meta.ns + "/" + pod.pod.meta.name);
    if (text.ok()) {
      logs.push_back({LogName(pod.pod), *std::move(text)});
    } else {
      Report(io, text.status());
    }
  }
  if (wanted == 0) {
    io.err << "No pods of job " << job.meta.ns << "/" << job.meta.name
           << (pods.empty() ? "" : " are among those asked for") << ".\n";
    const std::string last = LastEndText(job, filter.role, filter.index, api.clock().WallNow());
    if (!last.empty()) io.err << last << ".\n";
  }
  LinePrinter printer(io);
  for (const MergedLine& line : MergeLogs(logs)) {
    printer.Print(line.replica,
                  (flags.timestamps ? line.line.time + "Z " : "") + line.line.text);
  }
  return absl::OkStatus();
}

absl::Status Logs(const CommandIo& io, LogsFlags flags) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, Connect(io, &flags.cluster));
  ASSIGN_OR_RETURN(const FoundJob found, FindJob(*api, flags.cluster.ns, flags.job));
  const SeenJob& job = found.job;
  const ReplicaFilter filter{
      .role = RoleFromName(flags.role), .index = flags.index, .uid = job.meta.uid};
  if (!flags.follow) return PrintLogs(io, *api, flags, job, filter);
  return FollowLogs(io, *api,
                    {.ns = job.meta.ns,
                     .job = job.meta.name,
                     .filter = filter,
                     .kind = job.kind,
                     .since_time = SinceTime(flags, api->clock().WallNow()),
                     .tail_lines = TailLines(flags),
                     .on_job = nullptr});
}

}  // namespace

void LinePrinter::Print(const std::string& replica, std::string_view line) {
  // Six colours that are legible on dark and on light ground.
  static constexpr const char* kColors[] = {"36", "33", "32", "35", "34", "31"};
  const std::string tag = "[" + replica + "]";
  // What the user's own program wrote is shown as it is, as kubectl shows it: colours and progress
  // bars are meant for this terminal.
  std::ostream& to = io_.raw != nullptr ? *io_.raw : io_.out;
  if (io_.color) {
    const auto [color, added] = colors_.emplace(replica, colors_.size() % std::size(kColors));
    to << "\033[" << kColors[color->second] << "m" << tag << "\033[0m ";
  } else {
    to << tag << " ";
  }
  to << line << "\n" << std::flush;
}

absl::Status FollowLogs(const CommandIo& io, ApiClient& api, LogFollow::Options options) {
  LinePrinter printer(io);
  std::promise<absl::Status> done;
  LogFollow follow(
      api.transport(), api.executor(), api.random(), std::move(options),
      [&](const std::string& replica, std::string_view line) { printer.Print(replica, line); },
      [&](const absl::Status& status) { done.set_value(status); });
  api.executor().Post([&] { follow.Start(); });
  const absl::Status status = done.get_future().get();
  api.Stop();
  return status;
}

absl::Status FollowJob(const CommandIo& io, ApiClient& api, const SeenJob& job) {
  // Written by the executor's thread, and read when FollowLogs has stopped it.
  SeenJob last = job;
  const auto tell = [&](const SeenJob& now) {
    if (!now.status_known) Report(io, now.unreadable);
    if (!now.status_known) return;
    for (const std::string& line : ChangeLines(last.status, now.status)) io.err << line << "\n";
    last = now;
  };
  RETURN_IF_ERROR(FollowLogs(io, api,
                             {.ns = job.meta.ns,
                              .job = job.meta.name,
                              .filter = {.uid = job.meta.uid},
                              .kind = job.kind,
                              .on_job = tell}));
  TellCheckpoints(io, api, last);
  if (last.status.state == JobState::kSucceeded) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "job " + job.meta.ns + "/" + job.meta.name + " ended as " +
      last.StateName() +
      (last.status.message.empty() ? "" : ": " + last.status.message));
}

void AddLogsCommand(Command& app, const CommandIo& io, int* exit_code) {
  Command logs =
      app.AddCommand({.name = "logs", .about = "Print the logs of all replicas, merged"});
  auto flags = std::make_shared<LogsFlags>();
  AddClusterFlags(logs, &flags->cluster);
  logs.AddOption("JOB", &flags->job, "NAME, tj/NAME or tfjob/NAME").Required();
  Option follow =
      logs.AddFlag("-f,--follow", &flags->follow,
                   "Go on, over restarts, until the job has ended (default: print and end)");
  logs.AddOption("--role", &flags->role, "chief, ps, worker or evaluator (default: all)")
      .OneOf({"chief", "ps", "worker", "evaluator"});
  logs.AddOption("--index", &flags->index, "Only this replica of each role (default: all)")
      .NonNegative();
  logs.AddFlag("-p,--previous", &flags->previous,
               "Of the container before the last restart in its pod")
      .Excludes(follow);
  CheckIsDuration(logs.AddOption("--since", &flags->since,
                                 "Only lines newer than this, such as 90s or 5m (default: all)"));
  logs.AddOption("--tail", &flags->tail,
                 "Only the last so many lines of each replica (default: all)")
      .NonNegative();
  logs.AddFlag("-t,--timestamps", &flags->timestamps, "Print the time of each line, too")
      .Excludes(follow);
  logs.OnRun([&io, flags, exit_code] { *exit_code = Report(io, Logs(io, *flags)); });
}

}  // namespace taas
