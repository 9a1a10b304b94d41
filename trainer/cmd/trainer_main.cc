#include "trainer/cmd/trainer_main.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
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
#include "trainer/cmd/flag_names.h"
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

// An error that comes of flags is told in their words. What --config, TAAS_TRAINER or TF_CONFIG
// says is no wrong usage: those are written by somebody else than who starts the process.
struct Complaint {
  std::string message;
  int exit_code = kExitPermanent;
};
Complaint ComplaintOf(const absl::Status& status, const Flags& flags) {
  const std::string message(status.message());
  if (!SaysWhatToTrain(flags, Env)) return {message, kExitUsage};
  if (const auto words = InFlagWords(flags, Env, message)) return {*words, kExitUsage};
  const bool of_flag = absl::IsInvalidArgument(status) && message.starts_with("--");
  const bool is_given = SaysWhoItIs(flags) || message.starts_with("--volume ");
  return {message, of_flag && is_given ? kExitUsage : kExitPermanent};
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

// Of replicas it is their job that says so. A step of a large model takes a while.
void TellOfEnd(const ReplicaProcess& process) {
  if (process.cluster) return;
  const bool saves = !process.config.checkpoint_dir.empty();
  Log(LogLevel::kInfo,
      saves ? "ending after this step, then saving; a second signal ends at once"
            : "ending after this step; without a checkpoint.dir nothing is saved");
}

// SIGTERM and SIGINT are taken by one thread. A replica that keeps nothing takes leave and ends.
// One that writes checkpoints, or holds what they are made of, is told to stop; a second signal
// ends it too.
void HandleSignals(const ReplicaProcess& process, StatusBoard& board, StopFlag& stop,
                   Farewell& farewell, std::atomic<int>& stopped_by) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([&process, &board, &stop, &farewell, &stopped_by, signals] {
    bool told = false;
    // Ends with the process.
    for (;;) {
      int number = 0;
      if (sigwait(&signals, &number) != 0) continue;
      if (process.part.needed_to_save() && !told) {
        told = true;
        stopped_by = number;
        TellOfEnd(process);
        stop.Stop();
        continue;
      }
      WriteTermination(process.termination_log, board.TerminationJson("stopped by a signal"));
      farewell.Say();
      _exit(128 + number);
    }
  }).detach();
}

// Each parses a command line of its own, which begins with its name.
struct Verb {
  std::string_view name;
  const char* about;
  int (*run)(int argc, char** argv);
};

int RunUse(int argc, char** argv) { return RunUseCommand(argc, argv, Env); }
int RunGraph(int argc, char** argv) { return RunGraphCommand(argc, argv, Env); }

constexpr Verb kVerbs[] = {
    {"inspect", "Show what a checkpoint, a model or an event file holds", RunInspectCommand},
    {"export", "Write a trained model for other programs", RunUse},
    {"eval", "Print loss, accuracy and perplexity of a trained model", RunUse},
    {"predict", "Print what a trained model says of examples", RunUse},
    {"generate", "Print a text of a trained model", RunUse},
    {"graph", "Show the ops of a model", RunGraph},
    {"data", "Fetch, inspect and convert data sets", RunDataCommand},
    {"devices", "Show the GPUs of this machine", RunDevicesCommand},
};

const Verb* FindVerb(std::string_view name) {
  for (const Verb& verb : kVerbs) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

// For the help, and for what is said of a word that is none of them. Sets `misplaced` to the name
// of one that was given behind an option.
void DeclareVerbs(CommandLine& app, std::string* misplaced) {
  for (const Verb& verb : kVerbs) {
    app.AddCommand({.name = std::string(verb.name), .about = verb.about})
        .OnRun([&verb, misplaced] { *misplaced = verb.name; });
  }
}

}  // namespace

int TrainerMain(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (const Verb* const verb = FindVerb(first)) return verb->run(argc - 1, argv + 1);
  if (const Verb* const verb = argc > 2 && first == "help" ? FindVerb(argv[2]) : nullptr) {
    char help[] = "--help";
    char* words[] = {argv[2], help, nullptr};
    return verb->run(2, words);
  }
  CommandLine app(
      {.name = "taas-trainer",
       .about = "Trains a model: one replica of a TrainingJob, or all of it in one process."});
  app.AddVersionFlag(std::string("taas-trainer ") + kVersion);
  Flags flags;
  AddFlags(app, &flags);
  std::string misplaced;
  DeclareVerbs(app, &misplaced);
  if (const std::optional<int> ended = app.Parse(argc, argv)) return *ended;
  if (!misplaced.empty()) {
    std::fprintf(stderr, "taas-trainer: %s must be the first word; options follow it\n",
                 misplaced.c_str());
    return kExitUsage;
  }
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
    const Complaint complaint = ComplaintOf(status, flags);
    Log(LogLevel::kError, complaint.message, {{"exit", std::to_string(complaint.exit_code)}});
    WriteTermination(process.termination_log, board.TerminationJson(complaint.message));
    return complaint.exit_code;
  }
  static StopFlag stop;
  static Farewell farewell;
  static std::atomic<int> stopped_by = SIGTERM;
  HandleSignals(process, board, stop, farewell, stopped_by);
  return RunReplicaProcess(process, board, stop, farewell, stopped_by);
}

}  // namespace taas
