#include "cli/local/local_commands.h"

#include <sys/stat.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/api_client.h"
#include "cli/local/ci_run.h"
#include "cli/local/last_time.h"
#include "cli/local/local_session.h"
#include "cli/local/open_page.h"
#include "cli/local/up_down.h"
#include "cli/stop_signals.h"
#include "localkube/node/shim.h"
#include "operator/base/command_line.h"
#include "operator/base/log.h"
#include "operator/base/nvml.h"
#include "operator/base/status.h"
#include "operator/kube/kubeconfig.h"

namespace taas {
namespace {

struct Flags {
  std::string dir;
  std::string shown_dir;
  int port = 0;
  bool ephemeral = false;
  bool detach = false;
  int dashboard_port = 0;
  bool no_dashboard = false;
  bool keep = false;
  std::vector<std::string> volumes;
  std::string fake_gpus_text;
  int nodes = 0;  // Not given.
  ClusterShape shape;  // Of the three, by ReadClusterFlags.
  std::string trainer;
  std::string file;
  int timeout_s = 3600;
  std::string output;
  std::string run_dir;
  std::string job, ns;
  bool print = false;
};

std::string DefaultDir() {
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : "/root") + "/.taas/local";
}

std::string Absolute(const std::string& path) {
  std::string out = path;
  if (path.empty() || path[0] != '/') {
    char* cwd = ::realpath(".", nullptr);
    out = std::string(cwd != nullptr ? cwd : "") + "/" + path;
    std::free(cwd);
  }
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

// "CLAIM=PATH" or "NAMESPACE/CLAIM=PATH"; without PATH only where there is one to be forgotten.
absl::StatusOr<std::map<std::string, std::string>> ReadVolumes(
    const std::vector<std::string>& texts, bool may_forget) {
  std::map<std::string, std::string> out;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const bool forgets = equals + 1 == text.size();
    if (equals == std::string::npos || equals == 0 || (forgets && !may_forget)) {
      return absl::InvalidArgumentError("--volume: " + text + " is not CLAIM=PATH");
    }
    if (forgets) {
      out[text.substr(0, equals)] = "";
      continue;
    }
    char* real = ::realpath(text.c_str() + equals + 1, nullptr);
    const std::string path = real != nullptr ? real : "";
    std::free(real);
    struct stat info {};
    if (path.empty() || ::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
      const std::string missing = text.substr(equals + 1);
      return absl::InvalidArgumentError("--volume: " + missing +
                                        " is not a directory; `mkdir -p " + missing +
                                        "` makes one");
    }
    out[text.substr(0, equals)] = path;
  }
  return out;
}

// "8x80": eight GPUs of 80 GiB.
absl::StatusOr<localkube::LocalCluster::FakeGpus> ReadFakeGpus(const std::string& text) {
  localkube::LocalCluster::FakeGpus gpus;
  char rest = 0;
  const int read = std::sscanf(text.c_str(), "%dx%d%c", &gpus.count, &gpus.gibibytes, &rest);
  if (read != 2 || gpus.count < 0 || gpus.count > kFakeGpusMax || gpus.gibibytes < 0) {
    return absl::InvalidArgumentError("--fake-gpus: " + text +
                                      " is not NxM: number and GiB of memory of each");
  }
  return gpus;
}

// Of this machine; most have none, and no driver.
std::vector<GpuReading> ReadGpus() {
  const auto nvml = Nvml::Load();
  if (absl::IsNotFound(nvml.status())) return {};
  const auto gpus = nvml.ok() ? (*nvml)->Read() : nvml.status();
  if (!gpus.ok()) {
    Log(LogLevel::kWarning, "the GPUs of this machine cannot be used",
        {{"error", std::string(gpus.status().message())}});
    return {};
  }
  return *gpus;
}

// Sets the shape that AddClusterFlags takes as texts.
absl::Status ReadClusterFlags(Flags* flags, bool remembers) {
  if (!flags->fake_gpus_text.empty()) {
    ASSIGN_OR_RETURN(flags->shape.fake_gpus, ReadFakeGpus(flags->fake_gpus_text));
  }
  ASSIGN_OR_RETURN(flags->shape.volumes, ReadVolumes(flags->volumes, remembers));
  if (flags->nodes > 0) flags->shape.nodes = flags->nodes;
  return absl::OkStatus();
}

localkube::LocalCluster::Options ClusterOptions(const Flags& flags) {
  localkube::LocalCluster::Options options = {
      .dir = Absolute(flags.dir),
      .port = static_cast<uint16_t>(flags.port),
      .trainer_path = flags.trainer.empty() ? DefaultTrainerPath() : Absolute(flags.trainer),
      .shim_path = SelfPath(),
      .ephemeral = flags.ephemeral};
  ApplyShape(flags.shape, &options);
  if (options.fake_gpus.count == 0) options.gpus = ReadGpus();
  return options;
}

// `remembers`: what is not given is as it was last time.
void AddClusterFlags(Command& verb, Flags* flags, bool remembers) {
  const std::string otherwise = remembers ? "(default: as last time, else " : "(default: ";
  const std::string forget = remembers ? "; CLAIM= forgets the one of last time " : " ";
  verb.AddOption("--volume", &flags->volumes,
                 "Directory of this machine for a claim: CLAIM=PATH or NAMESPACE/CLAIM=PATH" +
                     forget + otherwise + "a directory of the cluster)");
  verb.AddOption("--fake-gpus", &flags->fake_gpus_text,
                 "Simulated GPUs of each node, NxM: N with M GiB of memory each; 0x0: none " +
                     otherwise + "the GPUs of this machine, on the first node)");
  verb.AddOption("--nodes", &flags->nodes,
                 "Number of nodes, all of them this machine, to try out scheduling " + otherwise +
                     "1)")
      .Between(1, kNodesMax);
  verb.AddOption(
      "--trainer", &flags->trainer,
      "Program that runs in place of the bundled trainer's image (default: taas-trainer beside "
      "taas)");
}

void AddDir(Command& verb, Flags* flags) {
  verb.AddOption("--dir", &flags->dir,
                 "Directory of the cluster, which must be yours (default: ~/.taas/local)")
      .Default(DefaultDir());
}

// Of verbs that look at a cluster that is there: of the one that all others speak to, if it is a
// local one.
void AddShownDir(Command& verb, Flags* flags) {
  const std::optional<std::string> kubeconfig = ProcessEnv("KUBECONFIG");
  const std::string dir = kubeconfig.has_value() ? LocalDirOf(Absolute(*kubeconfig)) : "";
  verb.AddOption("--dir", &flags->shown_dir,
                 "Directory of the cluster (default: that of $KUBECONFIG where it is a local "
                 "cluster's, else ~/.taas/local)")
      .Default(dir.empty() ? DefaultDir() : dir);
}

void AddUp(Command& local, const std::shared_ptr<Flags>& flags, int* exit_code) {
  Command up = local.AddCommand({.name = "up", .about = "Start a cluster on this machine"});
  AddDir(up, flags.get());
  up.AddOption("--port", &flags->port,
               "Port on 127.0.0.1 (default: the one of last time, else any)")
      .Between(0, 65535);
  up.AddFlag("--ephemeral", &flags->ephemeral, "Remove the cluster's directory at its end");
  up.AddFlag("--detach", &flags->detach,
             "Return when the cluster answers; it goes on in the background");
  up.AddOption("--dashboard-port", &flags->dashboard_port,
               "Port of the dashboard on 127.0.0.1 (default: the one of last time, else any)")
      .Between(0, 65535);
  up.AddFlag("--no-dashboard", &flags->no_dashboard, "Serve no web page");
  AddClusterFlags(up, flags.get(), /*remembers=*/true);
  const auto complaint = [flags] {
    return std::string(ReadClusterFlags(flags.get(), /*remembers=*/true).message());
  };
  up.OnRun(complaint, [flags, exit_code] {
    *exit_code = RunUp({.cluster = ClusterOptions(*flags),
                        .given = flags->shape,
                        .detach = flags->detach,
                        .dashboard = {.enabled = !flags->no_dashboard,
                                      .port = static_cast<uint16_t>(flags->dashboard_port)}});
  });
}

void AddDownAndStatus(Command& local, const std::shared_ptr<Flags>& flags, int* exit_code) {
  Command down =
      local.AddCommand({.name = "down", .about = "End a cluster and everything that it started"});
  AddDir(down, flags.get());
  down.OnRun([flags, exit_code] { *exit_code = RunDown(Absolute(flags->dir)); });
  Command status = local.AddCommand({.name = "status", .about = "Say whether a cluster runs"});
  AddShownDir(status, flags.get());
  status.AddOption("-o,--output", &flags->output, "Format of the output: json (default: text)")
      .OneOf({"json"});
  status.OnRun([flags, exit_code] {
    *exit_code = RunStatus(Absolute(flags->shown_dir), flags->output == "json");
  });
}

void AddCi(Command& local, const std::shared_ptr<Flags>& flags, int* exit_code) {
  Command ci = local.AddCommand(
      {.name = "ci",
       .about = "Run one job on a cluster of its own and print its result as JSON; exits 0 if it "
                "succeeded, 1 if it failed or was interrupted, 4 if it took too long"});
  ci.AddOption("-f,--filename", &flags->file, "Manifest; - reads standard input").Required();
  ci.AddOption("--timeout", &flags->timeout_s, "Seconds that the job may take (default: 3600)")
      .Positive();
  ci.AddOption("-o,--output", &flags->output, "Format of the output: json").OneOf({"json"});
  ci.AddFlag("--keep", &flags->keep, "Keep the cluster's directory: logs, store, volumes");
  AddClusterFlags(ci, flags.get(), /*remembers=*/false);
  const auto complaint = [flags] {
    return std::string(ReadClusterFlags(flags.get(), /*remembers=*/false).message());
  };
  ci.OnRun(complaint, [flags, exit_code] {
    StopSignals signals;
    *exit_code = RunCi({.file = flags->file,
                        .timeout = std::chrono::seconds(flags->timeout_s),
                        .keep = flags->keep},
                       ClusterOptions(*flags), signals);
  });
}

void AddOpen(Command& app, const std::shared_ptr<Flags>& flags, int* exit_code) {
  Command open = app.AddCommand(
      {.name = "open", .about = "Open the local cluster's web page, or that of one job"});
  open.AddOption("JOB", &flags->job, "NAME, tj/NAME or tfjob/NAME (default: the list of jobs)");
  AddShownDir(open, flags.get());
  open.AddOption("-n,--namespace", &flags->ns, "Namespace of JOB (default: that of the cluster's "
                                               "kubeconfig)");
  open.AddFlag("--print", &flags->print, "Print the address, which logs in once, and open nothing");
  open.OnRun([flags, exit_code] {
    *exit_code = RunOpen({.dir = Absolute(flags->shown_dir),
                          .job = flags->job,
                          .ns = flags->ns,
                          .browse = !flags->print});
  });
}

}  // namespace

void AddLocalCommands(Command& app, int* exit_code) {
  const auto flags = std::make_shared<Flags>();
  Command local =
      app.AddCommand({.name = "local", .about = "A cluster on this machine: up, down, status, ci"});
  local.RequireCommand();
  AddUp(local, flags, exit_code);
  AddDownAndStatus(local, flags, exit_code);
  AddCi(local, flags, exit_code);
  AddOpen(app, flags, exit_code);
  Command shim =
      app.AddCommand({.name = "shim", .about = "Run one container (started by the local cluster)"});
  shim.Hide();
  shim.AddOption("dir", &flags->run_dir, "").Required();
  shim.OnRun([flags, exit_code] { *exit_code = localkube::RunShim(flags->run_dir); });
}

}  // namespace taas
