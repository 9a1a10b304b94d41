// `taas doctor`: what is missing for jobs to run, and what to do about it.

#include <unistd.h>

#include <climits>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cli/cluster_checks.h"
#include "cli/exit_code.h"
#include "cli/finding.h"
#include "cli/job_ref.h"
#include "cli/machine_checks.h"
#include "cli/operator_scope.h"
#include "cli/verbs.h"
#include "operator/api/job_codec.h"
#include "operator/base/command_line.h"
#include "operator/kube/api_path.h"
#include "operator/kube/pod_decoder.h"

namespace taas {
namespace {

using Level = Finding::Level;

constexpr char kCrdsPath[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/";
constexpr char kReviewsPath[] = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

struct DoctorFlags {
  ClusterFlags cluster;
  bool local = false;
  std::string output = "text";
};

Finding LookAtOperator(ApiClient& api, bool is_local, const std::string& ns) {
  std::vector<Job> jobs;
  // Who may not list everywhere is told about rights in another line.
  for (const std::string& place : {std::string(), ns}) {
    jobs.clear();
    const absl::Status listed =
        ListJobs(api, place, {std::begin(kJobKinds), std::end(kJobKinds)}, "",
                 [&](JobKind kind, std::string_view json) {
                   absl::StatusOr<Job> job = DecodeJob(kind, json);
                   if (job.ok()) jobs.push_back(*std::move(job));
                   return absl::OkStatus();
                 });
    if (listed.ok()) break;
  }
  int running = 0;
  api.List(CollectionPath(Resource::kPods, ""), kOperatorLabel, "list pods of the operator",
           [&](std::string_view json) {
             const absl::StatusOr<Pod> pod = DecodePod(json);
             if (pod.ok() && pod->phase == PodPhase::kRunning) ++running;
             return absl::OkStatus();
           })
      .IgnoreError();
  return CheckOperator(jobs, running, is_local, ScopeOfOperators(api), ns,
                       api.clock().WallNow());
}

Finding LookAtNodes(ApiClient& api) {
  std::map<std::string, NodeUse> nodes;
  const absl::Status listed =
      api.List("/api/v1/nodes", "", "list nodes", [&](std::string_view json) {
        std::optional<NodeUse> node = ReadNode(json, "nvidia.com/gpu");
        if (node.has_value()) nodes[node->name] = *std::move(node);
        return absl::OkStatus();
      });
  return CheckNodes(listed, nodes);
}

Finding LookAtRights(ApiClient& api, const std::string& ns) {
  std::vector<absl::StatusOr<std::string>> replies;
  for (const Right& right : NeededRights()) {
    replies.push_back(api.Post(kReviewsPath, AccessReview(right, ns), "ask about rights"));
    if (!replies.back().ok()) break;
  }
  return CheckRights(replies, ns);
}

std::vector<Finding> LookAtCluster(const CommandIo& io, ClusterFlags flags) {
  const absl::StatusOr<std::unique_ptr<ApiClient>> api = Connect(io, &flags);
  if (!api.ok()) {
    return {{Level::kFail, "kubeconfig", std::string(api.status().message()),
             "`taas local up` makes a cluster and prints how to use it; else set KUBECONFIG"}};
  }
  std::vector<Finding> findings = {
      {Level::kOk, "kubeconfig", (*api)->source() + ", namespace " + flags.ns, ""}};
  const absl::StatusOr<std::string> version = (*api)->Get("/version", "get /version");
  findings.push_back(CheckVersion(version));
  // The rest would only say the same again.
  if (!version.ok()) return findings;
  for (const JobKind kind : kJobKinds) {
    findings.push_back(
        CheckCrd(kind, (*api)->Get(kCrdsPath + CrdName(kind), "get CRD " + CrdName(kind))));
  }
  findings.push_back(LookAtRights(**api, flags.ns));
  findings.push_back(LookAtOperator(**api, IsLocalCluster(version), flags.ns));
  findings.push_back(LookAtNodes(**api));
  return findings;
}

Machine ThisMachine(const CommandIo& io) {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  const std::string self(path, size > 0 ? static_cast<size_t>(size) : 0);
  return {.dir = io.env("HOME").value_or("/root") + "/.taas/local",
          .trainer = self.substr(0, self.rfind('/')) + "/taas-trainer"};
}

int Doctor(const CommandIo& io, const DoctorFlags& flags) {
  std::vector<Finding> findings;
  if (!flags.local) findings = LookAtCluster(io, flags.cluster);
  for (Finding& finding : CheckMachine(ThisMachine(io))) {
    finding.check = "local: " + finding.check;
    findings.push_back(std::move(finding));
  }
  if (flags.output == "json") {
    io.out << FindingsJson(findings) << "\n";
  } else {
    io.out << FormatFindings(findings);
  }
  return AnyFails(findings) ? kExitFailed : kExitOk;
}

}  // namespace

void AddDoctorCommand(Command& app, const CommandIo& io, int* exit_code) {
  Command doctor = app.AddCommand(
      {.name = "doctor", .about = "Say what is missing for jobs to run, and what to do about it"});
  auto flags = std::make_shared<DoctorFlags>();
  AddClusterFlags(doctor, &flags->cluster);
  doctor.AddFlag("--local", &flags->local, "Only what `taas local` needs of this machine");
  doctor.AddOption("-o,--output", &flags->output, "text or json (default: text)")
      .OneOf({"text", "json"});
  doctor.OnRun([&io, flags, exit_code] { *exit_code = Doctor(io, *flags); });
}

}  // namespace taas
