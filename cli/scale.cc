// `taas scale`: more or fewer replicas of a role.

#include <algorithm>
#include <cctype>
#include <memory>
#include <ostream>
#include <string>

#include "cli/job_ref.h"
#include "cli/verbs.h"
#include "operator/api/dialect.h"
#include "operator/base/command_line.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

struct ScaleFlags {
  ClusterFlags cluster;
  std::string job;
  std::string role = "worker";
  int replicas = -1;
  int current = -1;
};

bool SameWord(const std::string& a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

// The merge patch; a TFJob's key is written as the object has it ("Worker", "worker", "WORKER").
Json PatchOf(const FoundJob& found, Role role, int replicas) {
  Json patch;
  if (found.job.kind == JobKind::kTrainingJob) {
    patch["spec"]["roles"][std::string(RoleName(role))]["replicas"] = replicas;
  } else {
    std::string key(RoleKeyIn(found.job, role));
    const Json object = Json::parse(found.json, nullptr, /*allow_exceptions=*/false);
    const auto specs = Json::json_pointer("/spec/tfReplicaSpecs");
    if (object.contains(specs) && object.at(specs).is_object()) {
      for (const auto& [name, spec] : object.at(specs).items()) {
        if (SameWord(name, RoleNameIn(found.job, role))) key = name;
      }
    }
    patch["spec"]["tfReplicaSpecs"][key]["replicas"] = replicas;
  }
  // Of the object that was looked at, or not at all.
  patch["metadata"]["resourceVersion"] = found.job.meta.resource_version;
  return patch;
}

absl::Status Scale(const CommandIo& io, ScaleFlags flags) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, Connect(io, &flags.cluster));
  // The operator writes annotations all the time; each refusal for that is worth another look.
  constexpr int kConflictsMax = 5;
  for (int conflicts = 0;; ++conflicts) {
    ASSIGN_OR_RETURN(const FoundJob found, FindJob(*api, flags.cluster.ns, flags.job));
    const SeenJob& job = found.job;
    const std::string shown = QualifiedName(job.kind, job.meta.name);
    // How many there are cannot be told of a spec that cannot be read.
    if (!job.spec_known) return Annotate(job.unreadable, "scale " + shown);
    const Role role = *RoleFromName(flags.role);
    const auto spec = job.spec.roles.find(role);
    if (spec == job.spec.roles.end()) {
      return absl::NotFoundError("scale " + shown + ": the job has no " + flags.role);
    }
    const int before = spec->second.replicas;
    if (flags.current >= 0 && flags.current != before) {
      return absl::FailedPreconditionError("scale " + shown + ": it has " +
                                           std::to_string(before) + " " + flags.role +
                                           " replicas, not " + std::to_string(flags.current));
    }
    if (before == flags.replicas) {
      io.out << shown << " has " << before << " " << flags.role << " replicas already\n";
      return absl::OkStatus();
    }
    const absl::StatusOr<std::string> reply =
        api->Patch(JobPath(job.kind, job.meta.ns, job.meta.name),
                   PatchOf(found, role, flags.replicas).dump(), "scale " + shown);
    if (absl::IsAborted(reply.status()) && conflicts < kConflictsMax) continue;
    RETURN_IF_ERROR(reply.status());
    io.out << shown << " scaled: " << flags.role << " from " << before << " to " << flags.replicas
           << "\n";
    return absl::OkStatus();
  }
}

}  // namespace

void AddScaleCommand(Command& app, const CommandIo& io, int* exit_code) {
  Command scale =
      app.AddCommand({.name = "scale", .about = "Change the number of a role's replicas"});
  auto flags = std::make_shared<ScaleFlags>();
  AddClusterFlags(scale, &flags->cluster);
  scale.AddOption("JOB", &flags->job, "NAME, tj/NAME or tfjob/NAME").Required();
  scale.AddOption("--replicas,--workers", &flags->replicas, "How many there shall be")
      .Required()
      .NonNegative();
  scale.AddOption("--role", &flags->role, "chief, ps, worker or evaluator (default: worker)")
      .OneOf({"chief", "ps", "worker", "evaluator"});
  scale
      .AddOption("--current-replicas", &flags->current,
                 "Only if there are so many now (default: whatever there are)")
      .NonNegative();
  scale.OnRun([&io, flags, exit_code] { *exit_code = Report(io, Scale(io, *flags)); });
}

}  // namespace taas
