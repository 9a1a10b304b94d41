#include "operator/cmd/dashboard_command.h"

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "dashboard/server/dashboard_process.h"
#include "operator/cmd/log_flags.h"
#include "operator/cmd/stop_signal.h"

namespace taas {
namespace {

struct Flags {
  dashboard::DashboardOptions options;
  std::vector<std::string> kinds = {"TrainingJob", "TFJob"};
  LogFlags log;
};

void AddPageFlags(CLI::App* verb, dashboard::DashboardOptions& options) {
  verb->add_option("--addr", options.address,
                   "Where the page is served; loopback, since who reaches it sends tokens in "
                   "plain text: put a proxy with TLS before it")
      ->capture_default_str()
      ->envname("TAAS_DASHBOARD_ADDR");
  verb->add_option("--base-path", options.base_path,
                   "Path before that of the page where a proxy leaves it there, such as /taas. "
                   "Default: none; a proxy that takes it away needs nothing")
      ->check([](const std::string& path) {
        const bool good = path.empty() || (path.front() == '/' && path.back() != '/' &&
                                           path.find("//") == std::string::npos);
        return good ? std::string() : std::string("it is /A or /A/B, without a slash at its end");
      })
      ->envname("TAAS_DASHBOARD_BASE_PATH");
  verb->add_option("--hosts", options.hosts,
                   "Names under which the page is reached, with commas. Default: any, but on a "
                   "loopback address those of this machine")
      ->delimiter(',')
      ->envname("TAAS_DASHBOARD_HOSTS");
  verb->add_option("--frame-ancestors", options.frame_ancestors,
                   "Origins that may show single charts in a frame, with commas. Default: none")
      ->delimiter(',')
      ->envname("TAAS_DASHBOARD_FRAME_ANCESTORS");
  verb->add_flag("--read-only", options.read_only,
                 "Change nothing, whoever asks. Default: off, since each caller may do no more "
                 "than her own token allows")
      ->envname("TAAS_DASHBOARD_READ_ONLY");
}

void AddHistoryFlags(CLI::App* verb, dashboard::DashboardOptions& options) {
  constexpr int kDaysMax = 3'650;
  verb->add_option("--history-file", options.history_file,
                   "File in which jobs that are gone are kept. Default: none, since the account "
                   "must then be allowed to read jobs and logs")
      ->envname("TAAS_DASHBOARD_HISTORY_FILE");
  verb->add_option("--history-days", options.history_days, "How long they are kept")
      ->check(CLI::Range(1, kDaysMax))
      ->capture_default_str()
      ->envname("TAAS_DASHBOARD_HISTORY_DAYS");
}

void AddEventFlags(CLI::App* verb, dashboard::DashboardOptions& options) {
  verb->add_option("--event-dir", options.event_dir,
                   "Folder for copies of trainings' event files while somebody looks at their "
                   "histograms, 1 GiB at most; it is emptied. Default: a temporary folder")
      ->envname("TAAS_DASHBOARD_EVENT_DIR");
}

void AddClusterFlags(CLI::App* verb, Flags* flags) {
  dashboard::DashboardOptions& options = flags->options;
  verb->add_option("--kubeconfig", options.kubeconfig,
                   "Kubeconfig file. Default: $KUBECONFIG, else the pod's service account, else "
                   "~/.kube/config")
      ->envname("TAAS_KUBECONFIG");
  verb->add_option("--namespaces", options.namespaces,
                   "Namespaces to show, with commas. Default: all, which needs a ClusterRole")
      ->delimiter(',')
      ->envname("TAAS_NAMESPACES");
  verb->add_option("--kinds", flags->kinds, "Kinds of jobs to show, with commas")
      ->delimiter(',')
      ->check(CLI::IsMember({"TrainingJob", "TFJob"}))
      ->capture_default_str()
      ->envname("TAAS_KINDS");
  verb->add_option("--gpu-resource", options.gpu_resource, "The container resource that GPUs are")
      ->capture_default_str()
      ->envname("TAAS_GPU_RESOURCE");
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

void AddDashboardCommand(CLI::App& app, int* exit_code) {
  CLI::App* verb = app.add_subcommand("dashboard", "Serve the web page instead of the operator");
  const auto flags = std::make_shared<Flags>();
  AddPageFlags(verb, flags->options);
  AddHistoryFlags(verb, flags->options);
  AddEventFlags(verb, flags->options);
  AddClusterFlags(verb, flags.get());
  flags->log.AddTo(verb);
  verb->callback([flags, exit_code] { *exit_code = Run(*flags); });
}

}  // namespace taas
