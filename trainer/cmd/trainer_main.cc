#include "trainer/cmd/trainer_main.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "operator/base/command_line.h"
#include "operator/base/file_system.h"
#include "operator/base/log.h"
#include "operator/base/random.h"
#include "operator/base/status.h"
#include "operator/base/version.h"
#include "trainer/cmd/devices_command.h"
#include "trainer/cmd/farewell.h"
#include "trainer/cmd/flags.h"
#include "trainer/cmd/graph_command.h"
#include "trainer/cmd/replica_process.h"
#include "trainer/cmd/use_commands.h"
#include "trainer/data/data_commands.h"
#include "trainer/inspect/inspect_command.h"

namespace taas {
namespace {

std::optional<std::string> Env(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

absl::StatusOr<int64_t> NumberFromEnv(const char* name, int64_t otherwise, int64_t high) {
  const auto text = Env(name);
  if (!text) return otherwise;
  int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || rest != end || value < 1 || value > high) {
    return absl::InvalidArgumentError(std::string(name) + " must be a whole number from 1 to " +
                                      std::to_string(high) + ", is \"" + *text + "\"");
  }
  return value;
}

absl::StatusOr<TrainerConfig> ReadConfig(const Flags& flags) {
  PosixFileSystem files;
  ASSIGN_OR_RETURN(const std::string text, TrainerJson(flags, Env, files));
  ASSIGN_OR_RETURN(TrainerConfig config, ParseTrainerConfig(text));
  RETURN_IF_ERROR(ApplyEnvironment(Env, &config));
  return config;
}

// More than any machine has.
constexpr int64_t kGpusMax = 1'000;

// Several compute one step only as towers, each of which has one.
absl::StatusOr<int> GpusFromEnv(const TrainerConfig& config, const Part& part) {
  ASSIGN_OR_RETURN(const int64_t gpus, NumberFromEnv("TAAS_GPUS", 0, kGpusMax));
  const bool towers = part.strategy->type == StrategyType::kTowers;
  const bool trains = part.role != TrainerRole::kEvaluator;
  if (gpus <= 1 || (towers && trains && gpus == config.towers)) return static_cast<int>(gpus);
  const std::string count = std::to_string(gpus);
  const std::string has = "this replica has " + count + " GPUs (TAAS_GPUS), and ";
  if (!trains) {
    return absl::InvalidArgumentError(has + "an evaluator computes on one: ask for `gpus: 1`");
  }
  if (!towers) {
    return absl::InvalidArgumentError(
        has + "with strategy " + std::string(part.strategy->name) +
        " a replica computes on one: ask for `gpus: 1` and more workers, or for `strategy: {type: "
        "Towers, towers: " + count + "}`, which computes on all of one machine");
  }
  const std::string wanted = std::to_string(config.towers);
  return absl::InvalidArgumentError(
      has + "strategy Towers has " + wanted + (config.towers == 1 ? " tower" : " towers") +
      ", each of which computes on one: ask for `gpus: " + wanted + "`, or for `towers: " + count +
      "`; with `gpus: 1` all towers share one");
}

absl::Status Configure(const Flags& flags, ReplicaProcess* process) {
  process->termination_log = Env("TAAS_TERMINATION_LOG");
  // Set and empty means: none.
  if (const char* const gpus = std::getenv("CUDA_VISIBLE_DEVICES")) process->visible_gpus = gpus;
  ASSIGN_OR_RETURN(process->cluster, ReadCluster(flags, Env));
  process->start_deadline = std::chrono::seconds(flags.start_deadline_secs);
  ASSIGN_OR_RETURN(process->config, ReadConfig(flags));
  process->part = PartOf(process->config, process->cluster);
  process->job = Env("TAAS_JOB").value_or(process->job);
  PosixFileSystem files;
  ASSIGN_OR_RETURN(process->token, ReadToken(flags, Env, files));
  process->uid = Env("TAAS_JOB_UID").value_or(process->uid);
  constexpr int64_t kCountMax = 1'000'000'000;
  ASSIGN_OR_RETURN(process->attempt, NumberFromEnv("TAAS_ATTEMPT", 1, kCountMax));
  ASSIGN_OR_RETURN(process->pod_number, NumberFromEnv("TAAS_POD_NUMBER", 1, kCountMax));
  ASSIGN_OR_RETURN(const int64_t port, NumberFromEnv("TAAS_STATUS_PORT", -1, 65'535));
  if (port > 0) process->status_port = static_cast<int>(port);
  ASSIGN_OR_RETURN(process->gpus, GpusFromEnv(process->config, process->part));
  process->gpu_plans = Env("TAAS_GPU_PLANS").value_or("");
  process->start = SystemRandom().Next();
  return absl::OkStatus();
}

// SIGTERM and SIGINT are taken by one thread. A replica that keeps nothing takes leave and ends.
// One that writes checkpoints, or holds what they are made of, is told to stop; a second signal
// ends it too.
void HandleSignals(const ReplicaProcess& process, StatusBoard& board, StopFlag& stop,
                   Farewell& farewell) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([&process, &board, &stop, &farewell, signals] {
    bool told = false;
    // Ends with the process.
    for (;;) {
      int number = 0;
      if (sigwait(&signals, &number) != 0) continue;
      if (process.part.needed_to_save() && !told) {
        told = true;
        stop.Stop();
        continue;
      }
      WriteTermination(process.termination_log, board.TerminationJson("stopped by a signal"));
      farewell.Say();
      _exit(128 + number);
    }
  }).detach();
}

}  // namespace

int TrainerMain(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "data") return RunDataCommand(argc - 1, argv + 1);
  if (verb == "devices") return RunDevicesCommand(argc - 1, argv + 1);
  if (verb == "graph") return RunGraphCommand(argc - 1, argv + 1, Env);
  if (verb == "inspect") return RunInspectCommand(argc - 1, argv + 1);
  if (IsUseCommand(verb)) return RunUseCommand(argc - 1, argv + 1, Env);
  CommandLine app(
      {.name = "",
       .about = "Trains a model: one replica of a TrainingJob, or all of it in one process."});
  app.AddVersionFlag(std::string("taas-trainer ") + kVersion);
  Flags flags;
  AddFlags(app, &flags);
  const std::optional<int> ended = app.Parse(argc, argv);
  // The parser has a number for each kind of mistake.
  if (ended) return *ended == 0 ? kExitDone : kExitUsage;
  if (flags.verbose) SetLogLevel(LogLevel::kDebug);

  // Copies of the model come and go on a thread each: the cut, its histograms, the checkpoint that
  // is read back. With a heap for every thread each of those heaps grows to the most that it ever
  // held; of two one is the main thread's and the other everybody's.
  mallopt(M_ARENA_MAX, 2);
  // One thread per process unless told otherwise: several replicas share a machine.
  setenv("OMP_NUM_THREADS", "1", /*overwrite=*/0);
  signal(SIGPIPE, SIG_IGN);
  // A limit of the size of files is an error of who writes, as a full disk is.
  signal(SIGXFSZ, SIG_IGN);
  static ReplicaProcess process;
  const absl::Status status = Configure(flags, &process);
  static StatusBoard board(BoardIdentity(process));
  if (!status.ok()) {
    const std::string message(status.message());
    Log(LogLevel::kError, message, {{"exit", std::to_string(kExitPermanent)}});
    WriteTermination(process.termination_log, board.TerminationJson(message));
    return kExitPermanent;
  }
  static StopFlag stop;
  static Farewell farewell;
  HandleSignals(process, board, stop, farewell);
  return RunReplicaProcess(process, board, stop, farewell);
}

}  // namespace taas
