// `taas wait`: until a job has a state.

#include <future>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "cli/find_checkpoints.h"
#include "cli/job_ref.h"
#include "cli/seen_job.h"
#include "cli/verbs.h"
#include "operator/base/command_line.h"
#include "operator/base/status.h"
#include "operator/kube/reflector.h"

namespace taas {
namespace {

struct WaitFlags {
  ClusterFlags cluster;
  std::string job;
  std::string state = "Succeeded";
  std::string timeout = "0";
};

// OK: what was waited for has come. Nothing: not yet. A null `job` is not there.
std::optional<absl::Status> Verdict(const SeenJob* job, const std::string& uid,
                                    const std::string& shown, const std::string& wanted) {
  const bool gone = job == nullptr || (!uid.empty() && job->meta.uid != uid);
  if (gone && wanted == "Deleted") return absl::OkStatus();
  if (gone) return absl::NotFoundError("job " + shown + " was deleted");
  if (wanted == "Deleted") return std::nullopt;
  if (!job->status_known) return Annotate(job->unreadable, "wait for job " + shown);
  const bool ended = job->HasEnded();
  if (wanted == "Ended" ? ended : job->StateName() == wanted) return absl::OkStatus();
  if (!ended) return std::nullopt;
  return absl::FailedPreconditionError("job " + shown + " ended as " + job->StateName() +
                                       ", not " + wanted +
                                       (job->status.message.empty() ? "" : ": ") +
                                       job->status.message);
}

// `last`: how the job was when what was waited for came.
absl::Status Await(ApiClient& api, const SeenJob& job, const WaitFlags& flags, SeenJob* last) {
  const std::chrono::seconds timeout = *ParseDuration(flags.timeout);
  const std::string shown = job.meta.ns + "/" + job.meta.name;
  std::promise<absl::Status> done;
  bool decided = false;
  Store<SeenJob> jobs;
  Reflector<SeenJob> reflector(
      api.transport(), api.executor(), api.random(), jobs,
      [kind = job.kind](std::string_view json) { return ReadSeenJob(kind, json); },
      {.path = JobsPath(job.kind, job.meta.ns),
       .field_selector = "metadata.name=" + job.meta.name});
  const auto decide = [&](const std::optional<absl::Status>& verdict) {
    if (decided || !verdict.has_value()) return;
    decided = true;
    done.set_value(*verdict);
  };
  const auto look = [&] {
    if (!reflector.synced()) return;
    const auto now = jobs.Find(job.meta.ns, job.meta.name);
    if (now != nullptr && !decided) *last = *now;
    decide(Verdict(now.get(), job.meta.uid, shown, flags.state));
  };
  reflector.set_on_failure([&](const absl::Status& why) {
    // Who may get a job and not list it would wait for ever.
    if (IsRefused(why) && !reflector.synced()) decide(why);
  });
  jobs.set_on_change([&](const auto&, const auto&) { look(); });
  reflector.set_on_synced(look);
  api.executor().Post([&] { reflector.Start(); });
  std::future<absl::Status> future = done.get_future();
  const bool in_time = timeout.count() == 0 ||
                       future.wait_for(timeout) == std::future_status::ready;
  absl::Status status = absl::DeadlineExceededError("job " + shown + " is not " + flags.state +
                                                    " after " + std::to_string(timeout.count()) +
                                                    " s");
  if (in_time) status = future.get();
  api.Stop();
  return status;
}

absl::Status Wait(const CommandIo& io, WaitFlags flags) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, Connect(io, &flags.cluster));
  const absl::StatusOr<FoundJob> found = FindJob(*api, flags.cluster.ns, flags.job);
  const bool gone = absl::IsNotFound(found.status()) && flags.state == "Deleted";
  if (gone) {
    io.out << flags.job << " is Deleted\n";
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(found.status());
  SeenJob last = found->job;
  const absl::Status waited = Await(*api, found->job, flags, &last);
  TellCheckpoints(io, *api, last);
  RETURN_IF_ERROR(waited);
  io.out << QualifiedName(found->job.kind, found->job.meta.name) << " is " << flags.state << "\n";
  return absl::OkStatus();
}

}  // namespace

void AddWaitCommand(Command& app, const CommandIo& io, int* exit_code) {
  Command wait = app.AddCommand({.name = "wait", .about = "Wait until a job has a state"});
  auto flags = std::make_shared<WaitFlags>();
  AddClusterFlags(wait, &flags->cluster);
  wait.AddOption("JOB", &flags->job, "NAME, tj/NAME or tfjob/NAME").Required();
  wait.AddOption("--for", &flags->state,
                 "A state, Ended for Succeeded or Failed, or Deleted (default: Succeeded)")
      .OneOf({"Pending", "Running", "Restarting", "Suspended", "Succeeded", "Failed", "Ended",
              "Deleted"});
  CheckIsDuration(
      wait.AddOption("--timeout", &flags->timeout,
                     "Such as 90s, 5m or 2h; exit code 4 after it (default: 0, wait for ever)"));
  wait.OnRun([&io, flags, exit_code] { *exit_code = Report(io, Wait(io, *flags)); });
}

}  // namespace taas
