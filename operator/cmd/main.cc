// taas-operator: keeps the TrainingJobs and TFJobs of a cluster going. With `dashboard` it serves
// their web page instead.

#include <malloc.h>

#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/defaults.h"
#include "operator/base/command_line.h"
#include "operator/base/log.h"
#include "operator/base/version.h"
#include "operator/cmd/arguments.h"
#include "operator/cmd/dashboard_command.h"
#include "operator/cmd/log_flags.h"
#include "operator/cmd/stop_signal.h"
#include "operator/controller/operator_process.h"

namespace taas {
namespace {

// Each is a connection of its own; a whole API server serves 400 requests at once by default.
constexpr int kApiWritesMax = 128;

struct Flags {
  OperatorOptions options;
  std::string address_scheme = "dns";
  std::vector<std::string> kinds = {"TrainingJob", "TFJob"};
  std::string tfjob_services = "PerReplica";
  int lease_seconds = 15;
  int lease_renew_seconds = 10;
  int lease_retry_seconds = 2;
  std::string gang_scheduler = "none";
  LogFlags log;
};

void AddElectionFlags(Command& app, Flags* flags) {
  LeaderElectionOptions& election = flags->options.leader_election;
  app.AddFlag("--leader-elect", &election.enabled,
              "Let one of several processes work and the others stand by. Default: off, since one "
              "process alone is back from a crash at once and need not wait for a lease")
      .FromEnv("TAAS_LEADER_ELECT");
  app.AddOption("--lease-namespace", &election.ns,
                "Namespace of the Lease. Default: this pod's, or that of the kubeconfig's context")
      .FromEnv("TAAS_LEASE_NAMESPACE");
  app.AddOption("--lease-name", &election.name,
                "Name of the Lease; another one for each operator that works on jobs of its own")
      .ShowDefault()
      .FromEnv("TAAS_LEASE_NAME");
  app.AddOption("--lease-seconds", &flags->lease_seconds,
                "After a leader was silent for so long another takes over; longer where the API "
                "server is slow, at the price of a longer pause after a crash")
      .ShowDefault()
      .FromEnv("TAAS_LEASE_SECONDS");
  app.AddOption("--lease-renew-seconds", &flags->lease_renew_seconds,
                "A leader that could not renew the lease for so long ends; what is between this "
                "and --lease-seconds is for its last writes to arrive")
      .ShowDefault()
      .FromEnv("TAAS_LEASE_RENEW_SECONDS");
  app.AddOption("--lease-retry-seconds", &flags->lease_retry_seconds,
                "Between two renewals; each is one request")
      .ShowDefault()
      .FromEnv("TAAS_LEASE_RETRY_SECONDS");
}

void AddGangFlags(Command& app, Flags* flags) {
  OperatorOptions& options = flags->options;
  app.AddOption("--gang-scheduler", &flags->gang_scheduler,
                "Who places the pods of a job together: none, volcano, coscheduling or kueue. "
                "None, since each of the others has to be installed and needs rights of its own; "
                "TFJobs work with Kueue in any case")
      .OneOf({"none", "volcano", "coscheduling", "kueue"})
      .ShowDefault()
      .FromEnv("TAAS_GANG_SCHEDULER");
  app.AddOption("--gang-scheduler-name", &options.gang.name,
                "The schedulerName of pods in a gang whose template names none. Default: volcano "
                "for volcano; else none, for a plugin of the cluster's own scheduler")
      .FromEnv("TAAS_GANG_SCHEDULER_NAME");
}

void AddConnectionFlags(Command& app, OperatorOptions& options) {
  app.AddOption("--kubeconfig", &options.kubeconfig,
                "Kubeconfig file. Default: $KUBECONFIG, else the pod's service account, else "
                "~/.kube/config")
      .FromEnv("TAAS_KUBECONFIG");
  app.AddOption("--api-writes", &options.api_writes,
                "Writes to the API server under way at one time. Sixteen keep a server of two "
                "cores busy and leave it time for its scheduler; more where it is large or far "
                "away")
      .Between(1, kApiWritesMax)
      .ShowDefault()
      .FromEnv("TAAS_API_WRITES");
}

void AddFlags(Command& app, Flags* flags) {
  OperatorOptions& options = flags->options;
  app.AddOption("--namespaces", &options.namespaces,
                "Namespaces to work in, with commas. Default: all, which needs a ClusterRole")
      .SplitAt(',')
      .FromEnv("TAAS_NAMESPACES");
  app.AddOption("--kinds", &flags->kinds,
                "Kinds of jobs to work on, with commas. Both, since a kind whose CRD is not "
                "installed costs one request per half minute; name one where the account may not "
                "list the other")
      .SplitAt(',')
      .OneOf({"TrainingJob", "TFJob"})
      .ShowDefault()
      .FromEnv("TAAS_KINDS");
  app.AddOption("--metrics-addr", &options.metrics_addr,
                "Where /metrics is served; loopback since it is open to all; empty: nowhere")
      .ShowDefault()
      .FromEnv("TAAS_METRICS_ADDR");
  app.AddOption("--health-addr", &options.health_addr,
                "Where /healthz and /readyz are served; empty: nowhere")
      .ShowDefault()
      .FromEnv("TAAS_HEALTH_ADDR");
  app.AddOption("--trainer-image", &options.trainer_image,
                "Image of jobs whose spec.trainer names none. Default: that of this release")
      .ShowDefault()
      .FromEnv("TAAS_TRAINER_IMAGE");
  app.AddOption("--trainer-cuda-image", &options.trainer_cuda_image,
                "Image of the same jobs' replicas that have GPUs, which then compute on them. "
                "Default: none, and all compute on processors")
      .FromEnv("TAAS_TRAINER_CUDA_IMAGE");
  app.AddOption("--cluster-domain", &options.cluster_domain,
                "Ends the names of replicas. Default: none, since \".svc\" is right everywhere")
      .FromEnv("TAAS_CLUSTER_DOMAIN");
  app.AddOption("--address-scheme", &flags->address_scheme,
                "How replicas find each other: dns (a cluster) or loopback (all on this machine)")
      .OneOf({"dns", "loopback"})
      .ShowDefault()
      .FromEnv("TAAS_ADDRESS_SCHEME");
  app.AddOption("--gpu-resource", &options.gpu_resource,
                "What `gpus: N` asks a node for; the name that NVIDIA's device plugin gives")
      .ShowDefault()
      .FromEnv("TAAS_GPU_RESOURCE");
  app.AddOption("--tfjob-services", &flags->tfjob_services,
                "Services of a TFJob. PerReplica gives the names J-worker-0.NS.svc that programs "
                "may rely on; PerJob gives them up for half the writes")
      .OneOf({"PerReplica", "PerJob"})
      .ShowDefault()
      .FromEnv("TAAS_TFJOB_SERVICES");
  app.AddFlag("--tfjob-legacy-labels", &options.tfjob_legacy_labels,
              "Also label pods of TFJobs as tf-operator did before 2023 (job-name, "
              "tf-replica-type, …), for tools that still select by those. Default: off, since "
              "each is 200 bytes per pod")
      .FromEnv("TAAS_TFJOB_LEGACY_LABELS");
  app.AddFlag("--adopt", &options.adopt,
              "Take over TFJobs that another controller began. Default: off, since two "
              "controllers of one job destroy each other's work: stop the other one first")
      .FromEnv("TAAS_ADOPT");
  flags->log.AddTo(app);
}

GangScheduler SchedulerOf(const std::string& name) {
  if (name == "volcano") return GangScheduler::kVolcano;
  if (name == "coscheduling") return GangScheduler::kCoscheduling;
  return name == "kueue" ? GangScheduler::kKueue : GangScheduler::kNone;
}

int Run(int argc, char** argv) {
  // One thread does nearly all the work: heaps of the others would only lie half empty.
  mallopt(M_ARENA_MAX, 1);
  // A job of a megabyte, a page of a list: what was large goes back to the kernel with its end.
  // Left to itself the library would keep a heap as large as all of that once was.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  Flags flags;
  flags.options.metrics_addr = "127.0.0.1:8080";
  flags.options.health_addr = "127.0.0.1:8081";
  flags.options.trainer_image = std::string(kDefaultTrainerImage);
  CommandLine app({.name = "taas-operator",
                   .about = "Keeps the TrainingJobs and TFJobs of a Kubernetes cluster going."});
  app.AddVersionFlag(std::string("taas-operator ") + kVersion);
  AddConnectionFlags(app, flags.options);
  AddFlags(app, &flags);
  AddElectionFlags(app, &flags);
  AddGangFlags(app, &flags);
  int exit_code = -1;
  AddDashboardCommand(app, &exit_code);
  const std::optional<int> ended =
      app.Parse(SplitEmptyValues(argc, argv, {"--health-addr", "--metrics-addr"}));
  if (ended.has_value()) return *ended;
  if (exit_code >= 0) return exit_code;  // The dashboard has been and is over.
  if (flags.address_scheme == "loopback") flags.options.address_scheme = AddressScheme::kLoopback;
  flags.options.gang.scheduler = SchedulerOf(flags.gang_scheduler);
  const bool volcano = flags.options.gang.scheduler == GangScheduler::kVolcano;
  if (volcano && flags.options.gang.name.empty()) flags.options.gang.name = "volcano";
  flags.options.tfjob_service_per_job = flags.tfjob_services == "PerJob";
  flags.options.kinds.clear();
  for (const std::string& kind : flags.kinds) {
    flags.options.kinds.push_back(kind == "TFJob" ? JobKind::kTfJob : JobKind::kTrainingJob);
  }
  flags.options.leader_election.times = {
      .lease = std::chrono::seconds(flags.lease_seconds),
      .renew = std::chrono::seconds(flags.lease_renew_seconds),
      .retry = std::chrono::seconds(flags.lease_retry_seconds)};
  flags.log.Apply();
  const StopSignal stop;
  auto process = OperatorProcess::Start(flags.options);
  if (!process.ok()) {
    std::cerr << "taas-operator: " << process.status().message() << "\n";
    return 1;
  }
  Log(LogLevel::kInfo, "operator ends", {{"signal", std::to_string(stop.Wait())}});
  (*process)->Stop();
  return 0;
}

}  // namespace
}  // namespace taas

int main(int argc, char** argv) { return taas::Run(argc, argv); }
