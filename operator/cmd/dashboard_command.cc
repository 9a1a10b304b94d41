#include "operator/cmd/dashboard_command.h"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "dashboard/server/dashboard_process.h"
#include "operator/base/command_line.h"
#include "operator/cmd/log_flags.h"
#include "operator/cmd/stop_signal.h"

namespace taas {
namespace {

struct Flags {
  dashboard::DashboardOptions options;
  std::vector<std::string> kinds = {"TrainingJob", "TFJob"};
  LogFlags log;
};

void AddPageFlags(Command& verb, dashboard::DashboardOptions& options) {
  verb.AddOption("--addr", &options.address,
                 "Where the page is served; loopback, since who reaches it sends tokens in "
                 "plain text: put a proxy with TLS before it")
      .ShowDefault()
      .FromEnv("TAAS_DASHBOARD_ADDR");
  verb.AddOption("--base-path", &options.base_path,
                 "Path before that of the page where a proxy leaves it there, such as /taas. "
                 "Default: none; a proxy that takes it away needs nothing")
      .Check([](const std::string& path) {
        const bool good = path.empty() || (path.front() == '/' && path.back() != '/' &&
                                           path.find("//") == std::string::npos);
        return good ? std::string() : std::string("it is /A or /A/B, without a slash at its end");
      })
      .FromEnv("TAAS_DASHBOARD_BASE_PATH");
  verb.AddOption("--hosts", &options.hosts,
                 "Names under which the page is reached, with commas. Default: any, but on a "
                 "loopback address those of this machine")
      .SplitAt(',')
      .FromEnv("TAAS_DASHBOARD_HOSTS");
  verb.AddOption("--frame-ancestors", &options.frame_ancestors,
                 "Origins that may show single charts in a frame, with commas. Default: none")
      .SplitAt(',')
      .FromEnv("TAAS_DASHBOARD_FRAME_ANCESTORS");
  verb.AddFlag("--read-only", &options.read_only,
               "Change nothing, whoever asks. Default: off, since each caller may do no more "
               "than her own token allows")
      .FromEnv("TAAS_DASHBOARD_READ_ONLY");
}

void AddHistoryFlags(Command& verb, dashboard::DashboardOptions& options) {
  constexpr int kDaysMax = 3'650;
  verb.AddOption("--history-file", &options.history_file,
                 "File in which jobs that are gone are kept. Default: none, since the account "
                 "must then be allowed to read jobs and logs")
      .FromEnv("TAAS_DASHBOARD_HISTORY_FILE");
  verb.AddOption("--history-days", &options.history_days, "How long they are kept")
      .Between(1, kDaysMax)
      .ShowDefault()
      .FromEnv("TAAS_DASHBOARD_HISTORY_DAYS");
}

void AddEventFlags(Command& verb, dashboard::DashboardOptions& options) {
  verb.AddOption("--event-dir", &options.event_dir,
                 "Folder for copies of trainings' event files while somebody looks at their "
                 "histograms, 1 GiB at most; it is emptied. Default: a temporary folder")
      .FromEnv("TAAS_DASHBOARD_EVENT_DIR");
}

void AddClusterFlags(Command& verb, Flags* flags) {
  dashboard::DashboardOptions& options = flags->options;
  verb.AddOption("--kubeconfig", &options.kubeconfig,
                 "Kubeconfig file. Default: $KUBECONFIG, else the pod's service account, else "
                 "~/.kube/config")
      .FromEnv("TAAS_KUBECONFIG");
  verb.AddOption("--namespaces", &options.namespaces,
                 "Namespaces to show, with commas. Default: all, which needs a ClusterRole")
      .SplitAt(',')
      .FromEnv("TAAS_NAMESPACES");
  verb.AddOption("--kinds", &flags->kinds, "Kinds of jobs to show, with commas")
      .SplitAt(',')
      .OneOf({"TrainingJob", "TFJob"})
      .ShowDefault()
      .FromEnv("TAAS_KINDS");
  verb.AddOption("--gpu-resource", &options.gpu_resource, "The container resource that GPUs are")
      .ShowDefault()
      .FromEnv("TAAS_GPU_RESOURCE");
}

int Run(Flags& flags) {
  flags.options.kinds.clear();
  for (const std::string& kind : flags.kinds) {
    flags.options.kinds.push_back(kind == "TFJob" ? JobKind::kTfJob : JobKind::kTrainingJob);
  }
  flags.log.Apply();
  const StopSignal stop;
  const auto process = dashboard::DashboardProcess::Start(flags.options);
  if (!process.ok()) {
    std::cerr << "taas-operator: " << process.status().message() << "\n";
    return 1;
  }
  stop.Wait();
  (*process)->Stop();
  return 0;
}

}  // namespace

void AddDashboardCommand(Command& app, int* exit_code) {
  Command verb =
      app.AddCommand({.name = "dashboard", .about = "Serve the web page instead of the operator"});
  const auto flags = std::make_shared<Flags>();
  AddPageFlags(verb, flags->options);
  AddHistoryFlags(verb, flags->options);
  AddEventFlags(verb, flags->options);
  AddClusterFlags(verb, flags.get());
  flags->log.AddTo(verb);
  verb.OnRun([flags, exit_code] { *exit_code = Run(*flags); });
}

}  // namespace taas
