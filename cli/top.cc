// `taas top node`, `taas top job` and `taas top pod`: who holds the GPUs, CPUs and memory, and who
// uses them.

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "cli/allocation.h"
#include "cli/ask_ranks.h"
#include "cli/job_ref.h"
#include "cli/job_use.h"
#include "cli/seen_job.h"
#include "cli/verbs.h"
#include "operator/base/command_line.h"
#include "operator/base/status.h"
#include "operator/kube/api_path.h"

namespace taas {
namespace {

constexpr char kNodesPath[] = "/api/v1/nodes";
constexpr char kJson[] = "json";
constexpr char kMetricsPath[] = "/apis/metrics.k8s.io/v1beta1";

struct TopFlags {
  ClusterFlags cluster;
  std::string name;
  bool all_namespaces = false;
  bool pods = false;
  std::string gpu_resource = "nvidia.com/gpu";
  std::string output = "table";  // Of jobs.
};

// What the metrics API says, by "NAMESPACE/NAME". A cluster without it, as one has it that runs no
// metrics-server, gives nothing; what else goes wrong is said, and the table goes without it.
std::map<std::string, Measured> ListMetrics(const CommandIo& io, ApiClient& api,
                                            const std::string& collection,
                                            const std::string& what) {
  std::map<std::string, Measured> out;
  const absl::Status status =
      api.List(kMetricsPath + collection, "", what, [&](std::string_view json) {
        const auto object = ReadMetricsObject(json);
        if (object.has_value()) out[object->ns + "/" + object->name] = object->used;
        return absl::OkStatus();
      });
  if (!status.ok() && !absl::IsNotFound(status)) {
    io.err << status.message() << "; CPU(USED) and MEM(USED) go without it\n";
  }
  return out;
}

std::optional<Measured> Find(const std::map<std::string, Measured>& all, const std::string& key) {
  const auto found = all.find(key);
  return found == all.end() ? std::nullopt : std::optional<Measured>(found->second);
}

absl::StatusOr<std::vector<PodUse>> ListPods(const CommandIo& io, ApiClient& api,
                                             const std::string& ns,
                                             const std::string& gpu_resource) {
  std::vector<PodUse> pods;
  RETURN_IF_ERROR(api.List(CollectionPath(Resource::kPods, ns), "", "list pods",
                           [&](std::string_view json) {
                             std::optional<PodUse> pod = ReadPodUse(json, gpu_resource);
                             if (pod.has_value()) pods.push_back(*std::move(pod));
                             return absl::OkStatus();
                           }));
  const std::map<std::string, Measured> used =
      ListMetrics(io, api, (ns.empty() ? "" : "/namespaces/" + ns) + "/pods", "read pods' usage");
  for (PodUse& pod : pods) pod.used = Find(used, pod.ns + "/" + pod.name);
  return pods;
}

absl::Status TopNode(const CommandIo& io, TopFlags flags) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, Connect(io, &flags.cluster));
  std::map<std::string, NodeUse> nodes;
  RETURN_IF_ERROR(api->List(kNodesPath, "", "list nodes", [&](std::string_view json) {
    std::optional<NodeUse> node = ReadNode(json, flags.gpu_resource);
    const bool wanted =
        node.has_value() && (flags.name.empty() || node->name == flags.name);
    if (wanted) nodes[node->name] = *std::move(node);
    return absl::OkStatus();
  }));
  if (nodes.empty()) {
    return absl::NotFoundError(flags.name.empty() ? "the cluster has no nodes"
                                                  : "there is no node " + flags.name);
  }
  const std::map<std::string, Measured> used =
      ListMetrics(io, *api, "/nodes", "read nodes' usage");
  for (auto& [name, node] : nodes) node.used = Find(used, "/" + name);
  ASSIGN_OR_RETURN(const std::vector<PodUse> pods, ListPods(io, *api, "", flags.gpu_resource));
  for (const PodUse& pod : pods) Charge(pod, &nodes);
  io.out << NodeTable(nodes);
  if (!flags.pods && flags.name.empty()) return absl::OkStatus();
  for (const auto& [name, node] : nodes) {
    std::vector<PodUse> here;
    for (const PodUse& pod : pods) {
      if (pod.node == name && !pod.ended) here.push_back(pod);
    }
    if (!here.empty()) io.out << "\n" << name << ":\n" << PodTable(here);
  }
  return absl::OkStatus();
}

// What a job's ranks tell; what goes wrong is said, and the rest is shown without it.
std::optional<RankTimes> TimesOf(const CommandIo& io, ApiClient& api, const FoundJob& found) {
  if (!TrainsByAllReduce(found.json)) return std::nullopt;
  absl::StatusOr<std::optional<RankTimes>> times = AskRanks(api, found.job);
  if (times.ok()) return *std::move(times);
  io.err << times.status().message() << "; the table goes without it\n";
  return std::nullopt;
}

absl::Status TopOneJob(const CommandIo& io, const TopFlags& flags, ApiClient& api,
                       const std::vector<PodUse>& pods) {
  ASSIGN_OR_RETURN(const FoundJob found, FindJob(api, flags.cluster.ns, flags.name));
  JobUseDetail detail;
  for (const PodUse& pod : pods) {
    if (pod.job_uid == found.job.meta.uid) detail.pods.push_back(pod);
  }
  detail.times = TimesOf(io, api, found);
  const std::vector<JobUse> uses = {UseOf(found.job, pods)};
  if (flags.output == kJson) {
    io.out << JobUseJson(uses, &detail);
    return absl::OkStatus();
  }
  io.out << JobUseTable(uses, false);
  if (!detail.pods.empty()) io.out << "\n" << PodTable(detail.pods);
  if (detail.times.has_value()) io.out << "\n" << RankTable(*detail.times);
  return absl::OkStatus();
}

absl::Status TopJob(const CommandIo& io, TopFlags flags) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, Connect(io, &flags.cluster));
  const std::string ns = flags.all_namespaces ? "" : flags.cluster.ns;
  ASSIGN_OR_RETURN(const std::vector<PodUse> pods, ListPods(io, *api, ns, flags.gpu_resource));
  if (!flags.name.empty()) return TopOneJob(io, flags, *api, pods);
  std::vector<JobUse> uses;
  RETURN_IF_ERROR(ListJobs(*api, ns, {std::begin(kJobKinds), std::end(kJobKinds)}, "",
                           [&](JobKind kind, std::string_view json) -> absl::Status {
                             ASSIGN_OR_RETURN(SeenJob job, ReadSeenJob(kind, json));
                             if (!job.unreadable.ok()) Report(io, job.unreadable);
                             uses.push_back(UseOf(std::move(job), pods));
                             return absl::OkStatus();
                           }));
  if (uses.empty() && flags.output != kJson) {
    io.err << "No jobs" << (ns.empty() ? "" : " in namespace " + ns) << ".\n";
    return absl::OkStatus();
  }
  std::stable_sort(uses.begin(), uses.end(), [](const JobUse& a, const JobUse& b) {
    return a.held.gpus > b.held.gpus;
  });
  io.out << (flags.output == kJson ? JobUseJson(uses, nullptr)
                                   : JobUseTable(uses, flags.all_namespaces));
  return absl::OkStatus();
}

absl::Status TopPod(const CommandIo& io, TopFlags flags) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ApiClient> api, Connect(io, &flags.cluster));
  const std::string ns = flags.all_namespaces ? "" : flags.cluster.ns;
  ASSIGN_OR_RETURN(const std::vector<PodUse> pods, ListPods(io, *api, ns, flags.gpu_resource));
  std::vector<PodUse> live;
  for (const PodUse& pod : pods) {
    if (!pod.ended && (flags.name.empty() || pod.name == flags.name)) live.push_back(pod);
  }
  if (live.empty() && !flags.name.empty()) {
    return absl::NotFoundError("no pod " + flags.cluster.ns + "/" + flags.name + " runs or waits");
  }
  if (live.empty()) io.err << "No pods" << (ns.empty() ? "" : " in namespace " + ns) << ".\n";
  std::stable_sort(live.begin(), live.end(), [](const PodUse& a, const PodUse& b) {
    return a.asked.gpus > b.asked.gpus;
  });
  if (!live.empty()) io.out << PodTable(live, flags.all_namespaces);
  return absl::OkStatus();
}

// What `taas top` shows.
struct Shown {
  const char* one;
  const char* many;  // As kubectl says it; taken, and not offered.
  const char* about;
  const char* positional;
  const char* of_one;
  absl::Status (*show)(const CommandIo& io, TopFlags flags);
};
constexpr Shown kShown[] = {
    {"node", "nodes", "What nodes have, and what pods hold and use of it", "NODE",
     "Only this node, with its pods (default: all)", TopNode},
    {"job", "jobs", "What jobs ask for, hold and use, most GPUs first", "JOB",
     "Only this job, with its pods (default: all)", TopJob},
    {"pod", "pods", "What pods that have not ended ask for and use, most GPUs first", "POD",
     "Only this pod (default: all)", TopPod}};

}  // namespace

void AddTopCommand(Command& app, const CommandIo& io, int* exit_code) {
  Command top = app.AddCommand(
      {.name = "top",
       .about = "Show who holds and uses GPUs, CPUs and memory: by node, by job or by pod"});
  top.RequireCommand();
  for (const Shown& shown : kShown) {
    for (const char* name : {shown.one, shown.many}) {
      Command verb = top.AddCommand({.name = name, .about = shown.about});
      if (name == shown.many) verb.Hide();
      auto flags = std::make_shared<TopFlags>();
      AddClusterFlags(verb, &flags->cluster);
      verb.AddOption(shown.positional, &flags->name, shown.of_one);
      if (shown.show == TopNode) {
        verb.AddFlag("-d,--details", &flags->pods, "Also the pods of each node");
      } else {
        verb.AddFlag("-A,--all-namespaces", &flags->all_namespaces, "In all namespaces");
      }
      if (shown.show == TopJob) {
        verb.AddOption("-o,--output", &flags->output, "table or json (default: table)")
            .OneOf({"table", kJson});
      }
      verb.AddOption("--gpu-resource", &flags->gpu_resource,
                     "What a GPU is called (default: nvidia.com/gpu)");
      verb.OnRun([&io, &shown, flags, exit_code] {
        *exit_code = Report(io, shown.show(io, *flags));
      });
    }
  }
}

}  // namespace taas
