// `taas describe`: why a job does not run, and everything that is known about it.

#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "cli/describe_text.h"
#include "cli/find_checkpoints.h"
#include "cli/job_ref.h"
#include "cli/job_table.h"
#include "cli/operator_scope.h"
#include "cli/verbs.h"
#include "operator/base/command_line.h"
#include "operator/base/status.h"
#include "operator/kube/api_path.h"

namespace taas {
namespace {

struct DescribeFlags {
  ClusterFlags cluster;
  std::vector<std::string> jobs;
};

absl::StatusOr<std::string> Describe(ApiClient& api, const std::string& ns,
                                     const std::string& name, const CommandIo& io) {
  ASSIGN_OR_RETURN(FoundJob found, FindJob(api, ns, name));
  JobDescription description{.job = std::move(found.job), .now = api.clock().WallNow()};
  ASSIGN_OR_RETURN(const std::vector<JobPod> pods, PodsOf(api, description.job));
  std::vector<std::string> uids;
  for (const JobPod& pod : pods) {
    uids.push_back(pod.pod.meta.uid);
    description.pods.push_back(pod.pod);
  }
  if (description.job.status_known && WasNeverSeen(description.job.status)) {
    description.no_operator = ScopeOfOperators(api).WhyNotIn(ns);
  }
  description.checkpoints = FindCheckpoints(io, api, description.job);
  const absl::Status events =
      api.List(CollectionPath(Resource::kEvents, ns), "", "list events in " + ns,
               [&](std::string_view json) {
                 std::optional<JobEvent> event = ReadEvent(json, description.job, uids);
                 if (event.has_value()) description.events.push_back(*std::move(event));
                 return absl::OkStatus();
               });
  // Of a job whose status is unreadable the first line says so.
  if (description.job.status_known && !description.job.unreadable.ok()) {
    Report(io, description.job.unreadable);
  }
  // A user may be allowed to see jobs and not events.
  if (!events.ok()) Report(io, events);
  return DescribeText(description);
}

absl::Status DescribeAll(const CommandIo& io, DescribeFlags flags) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, Connect(io, &flags.cluster));
  bool first = true;
  for (const std::string& name : flags.jobs) {
    ASSIGN_OR_RETURN(const std::string text, Describe(*api, flags.cluster.ns, name, io));
    io.out << (first ? "" : "\n\n") << text;
    first = false;
  }
  return absl::OkStatus();
}

}  // namespace

void AddDescribeCommand(Command& app, const CommandIo& io, int* exit_code) {
  Command describe = app.AddCommand(
      {.name = "describe", .about = "Say why a job does not run, and all that is known about it"});
  auto flags = std::make_shared<DescribeFlags>();
  AddClusterFlags(describe, &flags->cluster);
  describe.AddOption("JOB", &flags->jobs, "NAME, tj/NAME or tfjob/NAME").Required();
  describe.OnRun([&io, flags, exit_code] { *exit_code = Report(io, DescribeAll(io, *flags)); });
}

}  // namespace taas
