// `taas delete`: jobs, with or without their pods.

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cli/job_ref.h"
#include "cli/verbs.h"
#include "operator/base/command_line.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

// A finalizer or foreground deletion takes its time; a person does not notice a quarter second.
constexpr std::chrono::milliseconds kLookAgain{250};

struct DeleteFlags {
  ClusterFlags cluster;
  std::vector<std::string> jobs;
  std::string cascade = "background";
  bool ignore_not_found = false;
  bool no_wait = false;
  std::string timeout = "5m";
};

std::string DeleteOptions(const DeleteFlags& flags, const SeenJob& job) {
  const std::string policy = flags.cascade == "foreground" ? "Foreground"
                             : flags.cascade == "orphan"   ? "Orphan"
                                                           : "Background";
  return nlohmann::json{{"apiVersion", "v1"},
                        {"kind", "DeleteOptions"},
                        {"propagationPolicy", policy},
                        // Another job of this name may have come since we looked.
                        {"preconditions", {{"uid", job.meta.uid}}}}
      .dump();
}

absl::Status AwaitGone(ApiClient& api, const SeenJob& job, Clock::Time deadline) {
  for (;;) {
    const absl::StatusOr<FoundJob> now = GetJob(api, job.kind, job.meta.ns, job.meta.name);
    if (absl::IsNotFound(now.status())) return absl::OkStatus();
    RETURN_IF_ERROR(now.status());
    if (now->job.meta.uid != job.meta.uid) return absl::OkStatus();
    if (api.clock().Now() >= deadline) {
      return absl::DeadlineExceededError(QualifiedName(job.kind, job.meta.name) +
                                         " is still there: " +
                                         "a finalizer of it has not been removed");
    }
    api.clock().SleepUntil(api.clock().Now() + kLookAgain);
  }
}

absl::Status Delete(const CommandIo& io, DeleteFlags flags) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, Connect(io, &flags.cluster));
  std::vector<SeenJob> deleted;
  absl::Status failed;
  for (const std::string& name : flags.jobs) {
    const absl::StatusOr<FoundJob> found = FindJob(*api, flags.cluster.ns, name);
    absl::Status status = found.status();
    if (found.ok()) {
      const SeenJob& job = found->job;
      const std::string shown = QualifiedName(job.kind, job.meta.name);
      status = api->Delete(JobPath(job.kind, job.meta.ns, job.meta.name),
                           DeleteOptions(flags, job), "delete " + shown)
                   .status();
      if (status.ok()) {
        deleted.push_back(job);
        io.out << shown << " deleted\n";
      }
    }
    if (absl::IsNotFound(status) && flags.ignore_not_found) continue;
    if (status.ok()) continue;
    // The others are deleted all the same; the last error is reported by whoever called.
    if (!failed.ok()) Report(io, failed);
    failed = status;
  }
  const Clock::Time deadline = api->clock().Now() + *ParseDuration(flags.timeout);
  for (const SeenJob& job : deleted) {
    if (flags.no_wait) break;
    RETURN_IF_ERROR(AwaitGone(*api, job, deadline));
  }
  return failed;
}

}  // namespace

void AddDeleteCommand(Command& app, const CommandIo& io, int* exit_code) {
  Command verb = app.AddCommand({.name = "delete", .about = "Delete jobs and their pods"});
  auto flags = std::make_shared<DeleteFlags>();
  AddClusterFlags(verb, &flags->cluster);
  verb.AddOption("JOB", &flags->jobs, "NAME, tj/NAME or tfjob/NAME").Required();
  verb.AddOption("--cascade", &flags->cascade,
                 "background: pods go after the job; foreground: before it; orphan: they stay "
                 "(default: background)")
      .OneOf({"background", "foreground", "orphan"});
  verb.AddFlag("--ignore-not-found", &flags->ignore_not_found,
               "A job that is not there is no error");
  verb.AddFlag("--no-wait", &flags->no_wait, "Return before the jobs are gone");
  CheckIsDuration(verb.AddOption("--timeout", &flags->timeout,
                                 "How long to wait; exit code 4 after it (default: 5m)"));
  verb.OnRun([&io, flags, exit_code] { *exit_code = Report(io, Delete(io, *flags)); });
}

}  // namespace taas
