#include "cli/job_commands.h"

#include <algorithm>
#include <charconv>
#include <future>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "cli/api_client.h"
#include "cli/exit_code.h"
#include "cli/job_table.h"
#include "cli/log_follow.h"
#include "cli/log_line.h"
#include "cli/read_input.h"
#include "nlohmann/json.hpp"
#include "operator/api/manifest.h"
#include "operator/api/training_job_codec.h"
#include "operator/api/validation.h"
#include "operator/base/status.h"
#include "operator/kube/api_path.h"
#include "operator/kube/pod_decoder.h"
#include "operator/kube/reflector.h"

namespace taas {
namespace {

struct ClusterFlags {
  std::string kubeconfig, context, ns;
};

void AddClusterFlags(CLI::App* verb, ClusterFlags* flags) {
  verb->add_option("--kubeconfig", flags->kubeconfig,
                   "Cluster to use (default: $KUBECONFIG, then ~/.kube/config)");
  verb->add_option("--context", flags->context, "Context of it (default: its current-context)");
  verb->add_option("-n,--namespace", flags->ns, "Namespace (default: that of the context)");
}

int Report(const CommandIo& io, const absl::Status& status) {
  if (!status.ok()) io.err << "taas: " << std::string(status.message()) << "\n";
  return ExitCodeOf(status);
}

// Connects, and makes the namespace a definite one.
absl::StatusOr<std::unique_ptr<ApiClient>> Connect(const CommandIo& io, ClusterFlags& flags) {
  ASSIGN_OR_RETURN(std::unique_ptr<ApiClient> api,
                   ApiClient::Create(flags.kubeconfig, flags.context, io.env));
  if (flags.ns.empty()) flags.ns = api->ns();
  return api;
}

absl::StatusOr<Job> GetJob(ApiClient& api, const std::string& ns, const std::string& name) {
  ASSIGN_OR_RETURN(const std::string text, api.Get(ObjectPath(Resource::kTrainingJobs, ns, name),
                                                   "get job " + ns + "/" + name));
  return DecodeTrainingJob(text);
}

// --- list

struct ListFlags {
  ClusterFlags cluster;
  bool all_namespaces = false;
  std::string output = "table";
};

absl::Status List(const CommandIo& io, ListFlags flags) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, Connect(io, flags.cluster));
  const std::string ns = flags.all_namespaces ? "" : flags.cluster.ns;
  std::vector<Job> jobs;
  std::string raw;
  RETURN_IF_ERROR(api->List(CollectionPath(Resource::kTrainingJobs, ns), "", "list jobs",
                            [&](std::string_view item) -> absl::Status {
                              raw += (raw.empty() ? "" : ",") + std::string(item);
                              absl::StatusOr<Job> job = DecodeTrainingJob(item);
                              // One job that is beyond us does not hide the others.
                              if (job.ok()) {
                                jobs.push_back(*std::move(job));
                              } else {
                                Report(io, job.status());
                              }
                              return absl::OkStatus();
                            }));
  if (flags.output == "json") {
    const auto list = nlohmann::json::parse(
        R"({"apiVersion":"v1","kind":"List","metadata":{},"items":[)" + raw + "]}", nullptr,
        /*allow_exceptions=*/false);
    io.out << list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  } else if (flags.output == "name") {
    for (const Job& job : jobs) io.out << "trainingjob.taas.dev/" << job.meta.name << "\n";
  } else if (jobs.empty()) {
    io.err << "No jobs" << (ns.empty() ? "" : " in namespace " + ns) << ".\n";
  } else {
    io.out << FormatJobTable(jobs, api->clock().WallNow(), flags.all_namespaces);
  }
  return absl::OkStatus();
}

// --- logs

struct LogsFlags {
  ClusterFlags cluster;
  std::string job;
  bool follow = false;
  std::string role;
  int index = -1;
};

// "[worker-0] line", each replica in a colour of its own on a terminal.
class LinePrinter {
 public:
  explicit LinePrinter(const CommandIo& io) : io_(io) {}
  void Print(const std::string& replica, std::string_view line) {
    // Six colours that are legible on dark and on light ground.
    static constexpr const char* kColors[] = {"36", "33", "32", "35", "34", "31"};
    const std::string tag = "[" + replica + "]";
    if (io_.color) {
      const auto [color, added] = colors_.emplace(replica, colors_.size() % std::size(kColors));
      io_.out << "\033[" << kColors[color->second] << "m" << tag << "\033[0m ";
    } else {
      io_.out << tag << " ";
    }
    io_.out << line << "\n" << std::flush;
  }

 private:
  const CommandIo& io_;
  std::map<std::string, size_t> colors_;
};

absl::Status PrintLogs(const CommandIo& io, ApiClient& api, const LogsFlags& flags,
                       const ReplicaFilter& filter) {
  const std::string& ns = flags.cluster.ns;
  std::vector<Pod> pods;
  RETURN_IF_ERROR(api.List(CollectionPath(Resource::kPods, ns), LabelEquals(kJobLabel, flags.job),
                           "list pods of job " + ns + "/" + flags.job,
                           [&](std::string_view item) -> absl::Status {
                             ASSIGN_OR_RETURN(Pod pod, DecodePod(item));
                             if (filter.Wants(pod)) pods.push_back(std::move(pod));
                             return absl::OkStatus();
                           }));
  if (pods.empty()) io.err << "No pods of job " << ns << "/" << flags.job << ".\n";
  std::vector<ReplicaLog> logs;
  for (const Pod& pod : pods) {
    if (pod.phase == PodPhase::kPending) {
      io.err << pod.meta.name << " has not started.\n";
      continue;
    }
    const std::string path = SubresourcePath(Resource::kPods, ns, pod.meta.name, "log");
    absl::StatusOr<std::string> text = api.Get(WithQuery(path, {{"timestamps", "true"}}),
                                               "read log of pod " + ns + "/" + pod.meta.name);
    if (text.ok()) {
      logs.push_back({ReplicaName(pod), *std::move(text)});
    } else {
      io.err << "taas: " << std::string(text.status().message()) << "\n";
    }
  }
  LinePrinter printer(io);
  for (const MergedLine& line : MergeLogs(logs)) printer.Print(line.replica, line.line.text);
  return absl::OkStatus();
}

absl::Status FollowLogs(const CommandIo& io, ApiClient& api, const LogsFlags& flags,
                        const ReplicaFilter& filter) {
  LinePrinter printer(io);
  std::promise<absl::Status> done;
  LogFollow follow(
      api.transport(), api.executor(), api.random(),
      {.ns = flags.cluster.ns, .job = flags.job, .filter = filter},
      [&](const std::string& replica, std::string_view line) { printer.Print(replica, line); },
      [&](const absl::Status& status) { done.set_value(status); });
  api.executor().Post([&] { follow.Start(); });
  const absl::Status status = done.get_future().get();
  api.Stop();
  return status;
}

absl::Status Logs(const CommandIo& io, LogsFlags flags) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, Connect(io, flags.cluster));
  RETURN_IF_ERROR(GetJob(*api, flags.cluster.ns, flags.job).status());
  const ReplicaFilter filter{.role = RoleFromName(flags.role), .index = flags.index};
  return flags.follow ? FollowLogs(io, *api, flags, filter) : PrintLogs(io, *api, flags, filter);
}

// --- wait

struct WaitFlags {
  ClusterFlags cluster;
  std::string job;
  std::string state = "Succeeded";
  std::string timeout = "0";
};

// "90", "90s", "5m", "2h".
std::optional<std::chrono::seconds> ParseDuration(const std::string& text) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit(rest, static_cast<size_t>(end - rest));
  // A year: far from where nanoseconds overflow.
  constexpr int64_t kLongest = 365 * 24 * 3600;
  const int64_t factor =
      unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (error != std::errc() || factor == 0 || number < 0 || number > kLongest / factor) {
    return std::nullopt;
  }
  return std::chrono::seconds(number * factor);
}

// OK: what was waited for has come. Nothing: not yet.
std::optional<absl::Status> Verdict(const Job* job, const WaitFlags& flags) {
  const std::string name = flags.cluster.ns + "/" + flags.job;
  if (job == nullptr) return absl::NotFoundError("job " + name + " was deleted");
  const JobState state = job->status.state;
  const bool ended = state == JobState::kSucceeded || state == JobState::kFailed;
  if (flags.state == "Ended" ? ended : JobStateName(state) == flags.state) return absl::OkStatus();
  if (!ended) return std::nullopt;
  return absl::FailedPreconditionError("job " + name + " ended as " +
                                       std::string(JobStateName(state)) + ", not " + flags.state +
                                       (job->status.message.empty() ? "" : ": ") +
                                       job->status.message);
}

absl::Status Wait(const CommandIo& io, WaitFlags flags) {
  const std::chrono::seconds timeout = *ParseDuration(flags.timeout);
  ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, Connect(io, flags.cluster));
  RETURN_IF_ERROR(GetJob(*api, flags.cluster.ns, flags.job).status());
  std::promise<absl::Status> done;
  bool decided = false;
  Store<Job> jobs;
  Reflector<Job> reflector(api->transport(), api->executor(), api->random(), jobs,
                           DecodeTrainingJob,
                           {.path = CollectionPath(Resource::kTrainingJobs, flags.cluster.ns)});
  const auto look = [&] {
    if (decided || !reflector.synced()) return;
    const auto job = jobs.Find(flags.cluster.ns, flags.job);
    const std::optional<absl::Status> verdict = Verdict(job.get(), flags);
    decided = verdict.has_value();
    if (decided) done.set_value(*verdict);
  };
  jobs.set_on_change([&](const auto&, const auto&) { look(); });
  reflector.set_on_synced(look);
  api->executor().Post([&] { reflector.Start(); });
  std::future<absl::Status> future = done.get_future();
  const bool in_time = timeout.count() == 0 ||
                       future.wait_for(timeout) == std::future_status::ready;
  absl::Status status = absl::DeadlineExceededError(
      "job " + flags.cluster.ns + "/" + flags.job + " is not " + flags.state + " after " +
      std::to_string(timeout.count()) + " s");
  if (in_time) status = future.get();
  api->Stop();
  if (status.ok()) {
    io.out << "trainingjob.taas.dev/" << flags.job << " is " << flags.state << "\n";
  }
  return status;
}

// --- validate

int Validate(const CommandIo& io, const std::vector<std::string>& paths) {
  bool bad = false;
  const auto complain = [&](const std::string& path, const std::string& text) {
    io.out << path << ": " << text << "\n";
    bad = true;
  };
  for (const std::string& path : paths) {
    const absl::StatusOr<std::string> text = ReadInput(path);
    if (!text.ok()) {
      bad = true;
      io.err << "taas: " << std::string(text.status().message()) << "\n";
      continue;
    }
    const absl::StatusOr<std::vector<std::string>> documents = ManifestDocuments(*text);
    if (!documents.ok()) {
      complain(path, std::string(documents.status().message()));
      continue;
    }
    size_t checked = 0;
    for (const std::string& document : *documents) {
      const auto json = nlohmann::json::parse(document, nullptr, /*allow_exceptions=*/false);
      const std::string kind = json.is_object() && json.contains("kind") && json["kind"].is_string()
                                   ? json["kind"].get<std::string>()
                                   : "";
      if (!kind.empty() && kind != "TrainingJob") {
        io.err << path << ": an object of kind " << kind << " is not checked\n";
        continue;
      }
      ++checked;
      std::vector<FieldError> errors = ValidateTrainingJob(document);
      if (errors.empty()) errors = ValidateTrainer(document);
      for (const FieldError& error : errors) complain(path, FormatFieldError(error));
    }
    if (checked == 0) complain(path, "there is no TrainingJob in it");
  }
  return bad ? kExitFailed : kExitOk;
}

}  // namespace

void AddJobCommands(CLI::App& app, const CommandIo& io, int* exit_code) {
  CLI::App* const list = app.add_subcommand("list", "List jobs");
  auto list_flags = std::make_shared<ListFlags>();
  AddClusterFlags(list, &list_flags->cluster);
  list->add_flag("-A,--all-namespaces", list_flags->all_namespaces, "In all namespaces");
  list->add_option("-o,--output", list_flags->output, "table, json or name (default: table)")
      ->check(CLI::IsMember({"table", "json", "name"}));
  list->callback([&io, list_flags, exit_code] { *exit_code = Report(io, List(io, *list_flags)); });

  CLI::App* const logs = app.add_subcommand("logs", "Print the logs of all replicas, merged");
  auto logs_flags = std::make_shared<LogsFlags>();
  AddClusterFlags(logs, &logs_flags->cluster);
  logs->add_option("JOB", logs_flags->job, "Name of the job")->required();
  logs->add_flag("-f,--follow", logs_flags->follow,
                 "Go on, over restarts, until the job has ended (default: print and end)");
  logs->add_option("--role", logs_flags->role, "chief, ps or worker (default: all)")
      ->check(CLI::IsMember({"chief", "ps", "worker"}));
  logs->add_option("--index", logs_flags->index, "Only this replica of each role (default: all)")
      ->check(CLI::NonNegativeNumber);
  logs->callback([&io, logs_flags, exit_code] { *exit_code = Report(io, Logs(io, *logs_flags)); });

  CLI::App* const wait = app.add_subcommand("wait", "Wait until a job has a state");
  auto wait_flags = std::make_shared<WaitFlags>();
  AddClusterFlags(wait, &wait_flags->cluster);
  wait->add_option("JOB", wait_flags->job, "Name of the job")->required();
  wait->add_option("--for", wait_flags->state,
                   "State, or Ended for Succeeded or Failed (default: Succeeded)")
      ->check(CLI::IsMember(
          {"Pending", "Running", "Restarting", "Succeeded", "Failed", "Ended"}));
  wait->add_option("--timeout", wait_flags->timeout,
                   "Such as 90s, 5m or 2h; exit code 4 after it (default: 0, wait for ever)")
      ->check([](const std::string& text) {
        return ParseDuration(text).has_value() ? "" : "\"" + text + "\" is no time like 90s or 5m";
      });
  wait->callback([&io, wait_flags, exit_code] { *exit_code = Report(io, Wait(io, *wait_flags)); });

  CLI::App* const validate =
      app.add_subcommand("validate", "Check manifests as an API server and the trainer would");
  auto paths = std::make_shared<std::vector<std::string>>();
  validate
      ->add_option("-f,--filename", *paths,
                   "Manifest, - reads standard input; may be given several times")
      ->required();
  validate->callback([&io, paths, exit_code] { *exit_code = Validate(io, *paths); });
}

}  // namespace taas
