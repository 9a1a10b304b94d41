// `taas suspend` and `taas resume`.

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

struct SuspendFlags {
  ClusterFlags cluster;
  std::vector<std::string> jobs;
};

// What stands there, also of a job of which the rest cannot be read.
bool IsSuspended(const FoundJob& found) {
  if (found.job.spec_known) return found.job.spec.suspend;
  const auto object = nlohmann::json::parse(found.json, nullptr, /*allow_exceptions=*/false);
  const nlohmann::json::json_pointer at(
      found.job.kind == JobKind::kTfJob ? "/spec/runPolicy/suspend" : "/spec/suspend");
  return object.is_object() && object.contains(at) && object.at(at) == true;
}

absl::Status SetSuspend(const CommandIo& io, SuspendFlags flags, bool suspend) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, Connect(io, &flags.cluster));
  for (const std::string& name : flags.jobs) {
    ASSIGN_OR_RETURN(const FoundJob found, FindJob(*api, flags.cluster.ns, name));
    const SeenJob& job = found.job;
    const std::string shown = QualifiedName(job.kind, job.meta.name);
    const std::string verb = suspend ? "suspend" : "resume";
    if (job.HasEnded()) {
      return absl::FailedPreconditionError(verb + " " + shown + ": it has ended as " +
                                           std::string(JobStateName(job.status.state)));
    }
    if (IsSuspended(found) == suspend) {
      io.out << shown << (suspend ? " is suspended already\n" : " is not suspended\n");
      continue;
    }
    nlohmann::json patch;
    if (job.kind == JobKind::kTfJob) {
      patch["spec"]["runPolicy"]["suspend"] = suspend;
    } else {
      patch["spec"]["suspend"] = suspend;
    }
    RETURN_IF_ERROR(api->Patch(JobPath(job.kind, job.meta.ns, job.meta.name), patch.dump(),
                               verb + " " + shown)
                        .status());
    io.out << shown << (suspend ? " suspended\n" : " resumed\n");
  }
  return absl::OkStatus();
}

}  // namespace

void AddSuspendCommands(Command& app, const CommandIo& io, int* exit_code) {
  for (const bool suspend : {true, false}) {
    Command verb =
        suspend ? app.AddCommand({.name = "suspend",
                                  .about = "End a job's pods and keep the job, to be resumed"})
                : app.AddCommand({.name = "resume",
                                  .about = "Let a suspended job go on, from its checkpoint"});
    auto flags = std::make_shared<SuspendFlags>();
    AddClusterFlags(verb, &flags->cluster);
    verb.AddOption("JOB", &flags->jobs, "NAME, tj/NAME or tfjob/NAME").Required();
    verb.OnRun([&io, flags, exit_code, suspend] {
      *exit_code = Report(io, SetSuspend(io, *flags, suspend));
    });
  }
}

}  // namespace taas
