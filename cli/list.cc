// `taas list` and `taas get`: jobs as tables, names or objects.

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "cli/exit_code.h"
#include "cli/job_ref.h"
#include "cli/job_table.h"
#include "cli/seen_job.h"
#include "cli/verbs.h"
#include "operator/base/command_line.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::ordered_json;

struct ListFlags {
  ClusterFlags cluster;
  bool all_namespaces = false;
  std::string kind = "all";
  std::string selector;
  std::string state;
  std::string output = "table";
  bool no_headers = false;
  std::vector<std::string> jobs;  // Of get.
};

struct Listed {
  std::vector<SeenJob> jobs;
  Json items = Json::array();  // The same jobs.
};

void Add(const CommandIo& io, const ListFlags& flags, SeenJob job, std::string_view json,
         Listed* to) {
  // Why a job is shown as unreadable is said beside the table.
  if (!job.unreadable.ok()) Report(io, job.unreadable);
  if (!flags.state.empty() && job.StateName() != flags.state) return;
  to->jobs.push_back(std::move(job));
  to->items.push_back(Json::parse(json, nullptr, /*allow_exceptions=*/false));
}

absl::Status Print(const CommandIo& io, const ListFlags& flags, Clock::WallTime now,
                   const Listed& listed) {
  if (flags.output == "json" || flags.output == "yaml") {
    const bool one = flags.jobs.size() == 1 && listed.items.size() == 1;
    const Json list = {{"apiVersion", "v1"},
                       {"kind", "List"},
                       {"metadata", Json::object()},
                       {"items", listed.items}};
    return PrintObject(io,
                       (one ? listed.items[0] : list)
                           .dump(-1, ' ', false, Json::error_handler_t::replace),
                       flags.output);
  }
  if (flags.output == "name") {
    for (const SeenJob& job : listed.jobs) {
      io.out << QualifiedName(job.kind, job.meta.name) << "\n";
    }
  } else {
    io.out << FormatJobTable(listed.jobs, now,
                             {.with_namespace = flags.all_namespaces,
                              .wide = flags.output == "wide",
                              .headers = !flags.no_headers});
  }
  return absl::OkStatus();
}

absl::Status List(const CommandIo& io, ListFlags flags) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, Connect(io, &flags.cluster));
  const std::string ns = flags.all_namespaces ? "" : flags.cluster.ns;
  std::vector<JobKind> kinds(std::begin(kJobKinds), std::end(kJobKinds));
  if (flags.kind != "all") kinds = {*JobKindFromName(flags.kind)};
  Listed listed;
  RETURN_IF_ERROR(ListJobs(*api, ns, kinds, flags.selector,
                           [&](JobKind kind, std::string_view json) -> absl::Status {
                             ASSIGN_OR_RETURN(SeenJob job, ReadSeenJob(kind, json));
                             Add(io, flags, std::move(job), json, &listed);
                             return absl::OkStatus();
                           }));
  if (listed.items.empty() && (flags.output == "table" || flags.output == "wide")) {
    io.err << "No jobs" << (ns.empty() ? "" : " in namespace " + ns) << ".\n";
    return absl::OkStatus();
  }
  return Print(io, flags, api->clock().WallNow(), listed);
}

absl::Status Get(const CommandIo& io, ListFlags flags) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, Connect(io, &flags.cluster));
  Listed listed;
  absl::Status failed;
  for (const std::string& name : flags.jobs) {
    const absl::StatusOr<FoundJob> found = FindJob(*api, flags.cluster.ns, name);
    if (found.ok()) {
      Add(io, flags, found->job, found->json, &listed);
      continue;
    }
    // The jobs that are there are shown all the same; the first error is the exit code.
    if (failed.ok()) failed = found.status();
    if (flags.jobs.size() > 1) Report(io, found.status());
  }
  if (!listed.items.empty()) {
    RETURN_IF_ERROR(Print(io, flags, api->clock().WallNow(), listed));
  }
  if (!failed.ok() && flags.jobs.size() > 1) {
    return absl::Status(failed.code(), "not all of these jobs could be read");
  }
  return failed;
}

void AddOutputFlags(Command& verb, ListFlags* flags) {
  verb.AddOption("-o,--output", &flags->output, "table, wide, json, yaml or name (default: table)")
      .OneOf({"table", "wide", "json", "yaml", "name"});
  verb.AddFlag("--no-headers", &flags->no_headers, "Leave out the table's first line");
}

}  // namespace

void AddListCommand(Command& app, const CommandIo& io, int* exit_code) {
  Command list = app.AddCommand({.name = "list", .about = "List jobs of both kinds"});
  auto flags = std::make_shared<ListFlags>();
  AddClusterFlags(list, &flags->cluster);
  list.AddFlag("-A,--all-namespaces", &flags->all_namespaces, "In all namespaces");
  list.AddOption("--kind", &flags->kind, "all, trainingjob or tfjob (default: all)")
      .OneOf({"all", "trainingjob", "tfjob"});
  list.AddOption("-l,--selector", &flags->selector, "Only jobs with these labels, as in a=b,c!=d");
  list.AddOption("--state", &flags->state, "Only jobs in this state, such as Running")
      .OneOf({"Pending", "Running", "Restarting", "Suspended", "Succeeded", "Failed",
              "Unreadable"});
  AddOutputFlags(list, flags.get());
  list.OnRun([&io, flags, exit_code] { *exit_code = Report(io, List(io, *flags)); });
}

void AddGetCommand(Command& app, const CommandIo& io, int* exit_code) {
  Command get = app.AddCommand({.name = "get", .about = "Show one job or several"});
  auto flags = std::make_shared<ListFlags>();
  AddClusterFlags(get, &flags->cluster);
  get.AddOption("JOB", &flags->jobs, "NAME, tj/NAME or tfjob/NAME").Required();
  AddOutputFlags(get, flags.get());
  get.OnRun([&io, flags, exit_code] { *exit_code = Report(io, Get(io, *flags)); });
}

}  // namespace taas
