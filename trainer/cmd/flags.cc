#include "trainer/cmd/flags.h"

#include <charconv>
#include <utility>

#include "absl/strings/str_split.h"
#include "operator/base/bounded_file.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/comm/greeting.h"
#include "trainer/model/model.h"
#include "trainer/optimizer/optimizer.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// An API server takes no object above 3 MiB.
constexpr size_t kConfigBytesMax = 4 << 20;

constexpr char kTokenVariable[] = "TAAS_JOB_TOKEN";
constexpr size_t kTokenFileBytesMax = 4 << 10;

constexpr char kOrder[] =
    "Who this process is: the flags above; without them TF_CONFIG; without that TAAS_JOB_NAME,\n"
    "TAAS_TASK_INDEX, TAAS_PS_HOSTS, TAAS_WORKER_HOSTS and TAAS_CHIEF_HOSTS, or the same names\n"
    "without TAAS_.\n"
    "Without any of them one process trains alone.\n"
    "What it trains: flags over --config over TAAS_TRAINER; TF_MAX_STEPS, TF_LOGDIR,\n"
    "TF_SAVE_CHECKPOINTS_SECS and TF_SAVE_SUMMARIES_STEPS over all of them.\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 this node is bad, 138 start me again,\n"
    "128 + N ended by signal N.";

struct Steps {
  int64_t from = 0, to = 0;
};

// "FROM:TO" or one number.
std::optional<Steps> ReadSteps(const std::string& text) {
  Steps steps;
  const char* const end = text.data() + text.size();
  const auto [middle, error] = std::from_chars(text.data(), end, steps.from);
  if (error != std::errc()) return std::nullopt;
  if (middle == end) {
    steps.to = steps.from;
  } else {
    if (*middle != ':') return std::nullopt;
    const auto [rest, wrong] = std::from_chars(middle + 1, end, steps.to);
    if (wrong != std::errc() || rest != end) return std::nullopt;
  }
  if (steps.from < 1 || steps.to < steps.from) return std::nullopt;
  return steps;
}

void AddClusterFlags(Command& app, Flags* flags) {
  const char* const group = "Who this process is";
  app.AddOption("--ps_hosts", &flags->ps_hosts,
                "Addresses of the parameter servers: host:port,host:port")
      .Group(group);
  app.AddOption("--worker_hosts", &flags->worker_hosts,
                "Addresses of the workers: host:port,host:port")
      .Group(group);
  app.AddOption("--chief_hosts,--master_hosts", &flags->chief_hosts,
                "Address of the chief, host:port (default: worker 0 is the chief)")
      .Group(group);
  app.AddOption("--job_name", &flags->job_name, "Role of this process")
      .OneOf({"ps", "worker", "chief", "master", "evaluator"})
      .Group(group);
  app.AddOption("--task_index", &flags->task_index,
                "Index of this process within its role, from 0")
      .Group(group);
  app.AddOption("--job_token_file,--job-token-file", &flags->job_token_file,
                "File with the secret that all replicas of the job share; calls without it are "
                "refused")
      .Group(group);
  app.AddOption("--start_deadline_secs", &flags->start_deadline_secs,
                "Seconds to wait for the other replicas at the start; then the process exits with "
                "138")
      .Between(1, 1'000'000)
      .ShowDefault()
      .Group(group);
}

void AddModelFlagsTo(Command& app, const char* group, Flags* flags) {
  app.AddOption("--config", &flags->config,
                "spec.trainer, or a manifest of a TrainingJob: a YAML or JSON file, or JSON itself")
      .Group(group);
  app.AddOption("--volume", &flags->volumes,
                "Directory of this machine for a volume of the manifest: NAME=DIR; may be given "
                "several times")
      .Check([](const std::string& text) {
        return std::string(ParseVolumeDir(text).status().message());
      })
      .Repeated()
      .Group(group);
  const std::vector<std::string> models = absl::StrSplit(KnownModels(), ", ");
  app.AddOption("--model", &flags->model, "Name of the model (default: mlp, with --data_dir)")
      .OneOf(models)
      .Group(group);
  app.AddOption("--hidden_units,--hidden", &flags->hidden_units,
                "Units of each hidden layer of an mlp: 100,50")
      .SplitAt(',')
      .Group(group);
  app.AddOption("--data_dir", &flags->data_dir,
                "Directory of the four MNIST files, under their classic names or as `data fetch` "
                "names them")
      .Group(group);
  app.AddOption("--moving_average_decay", &flags->moving_average_decay,
                "Decay of the moving averages of the variables, which are then evaluated "
                "(default: none are kept)")
      .Group(group);
}

void AddTrainerFlags(Command& app, Flags* flags) {
  const char* const group = "What is trained";
  AddModelFlagsTo(app, group, flags);
  app.AddOption("--train_steps,--max_steps", &flags->train_steps, "Steps of all replicas together")
      .Group(group);
  app.AddOption("--batch_size", &flags->batch_size, "Examples per batch").Group(group);
  app.AddOption("--learning_rate", &flags->learning_rate, "Learning rate (default: 0.1)")
      .Positive()
      .Group(group);
  const std::vector<std::string> optimizers = absl::StrSplit(KnownOptimizers(), ", ");
  app.AddOption("--optimizer", &flags->optimizer, "Optimizer (default: sgd)")
      .OneOf(optimizers)
      .Group(group);
  app.AddOption("--momentum", &flags->momentum, "Momentum of --optimizer momentum").Group(group);
  app.AddOption("--l2", &flags->l2, "Weight of the L2 loss (default: 0)").Group(group);
  app.AddOption("--seed", &flags->seed,
                "Seed of the initial variables and of the order of examples")
      .Group(group);
  app.AddFlag("--sync_replicas{true},--issync{true},--nosync_replicas{false}",
              &flags->sync_replicas,
              "Synchronous training: a step applies the mean of the gradients of several replicas")
      .Group(group);
  app.AddOption("--replicas_to_aggregate", &flags->replicas_to_aggregate,
                "Gradients per step, with --sync_replicas (default: one per replica)")
      .Group(group);
  app.AddOption("--backup_workers", &flags->backup_workers,
                "Replicas that a step does not wait for, with --sync_replicas: a number, or a "
                "share as in 5%")
      .Group(group);
  app.AddOption("--max_staleness", &flags->max_staleness,
                "Most updates that a gradient may be behind and still be applied, without "
                "--sync_replicas (default: any)")
      .Group(group);
  app.AddOption("--strategy", &flags->strategy, "How replicas train together")
      .OneOf({"ParameterServer", "AllReduce", "Local", "Towers"})
      .Group(group);
  app.AddOption("--num_towers", &flags->towers, "Number of towers of --strategy Towers")
      .Group(group);
}

void AddEngineFlags(Command& app, Flags* flags) {
  const char* const group = "How it is computed";
  app.AddFlag("--log-device-placement,--log_device_placement", &flags->log_device_placement,
              "Log the device of each op")
      .Group(group);
  app.AddFlag("--soft-placement,--allow_soft_placement", &flags->soft_placement,
              "Run an op whose device does not exist on the device of the process")
      .Group(group);
  app.AddOption("--inter-op-threads,--inter_op_parallelism_threads", &flags->inter_op_threads,
                "Ops that run at the same time")
      .Group(group);
  app.AddOption("--intra-op-threads,--intra_op_parallelism_threads", &flags->intra_op_threads,
                "Threads of one op")
      .Group(group);
  app.AddFlag("--deterministic", &flags->deterministic,
              "Compute the same bits with any number of threads")
      .Group(group);
  app.AddOption("--precision", &flags->precision,
                "Type of the factors of matrix products and convolutions; tf32 needs a GPU")
      .OneOf({"float32", "tf32", "bfloat16"})
      .Group(group);
  app.AddOption("--trace", &flags->trace,
                "File to write a trace of some steps to; ui.perfetto.dev and chrome://tracing "
                "open it")
      .Group(group);
  app.AddOption("--trace-steps", &flags->trace_steps,
                "Steps of this process to trace, FROM:TO, counted from 1; needs --trace")
      .Check([](const std::string& text) {
        return ReadSteps(text) ? "" : "\"" + text + "\" is not FROM:TO, two steps from 1";
      })
      .Group(group);
}

void AddOutputFlags(Command& app, Flags* flags) {
  const char* const group = "What it writes";
  app.AddOption("--log_dir,--logdir", &flags->log_dir,
                "Directory of checkpoints and event files, in TensorFlow's formats")
      .Group(group);
  app.AddOption("--checkpoint_dir", &flags->checkpoint_dir,
                "Directory of checkpoints, if it is another one than --log_dir")
      .Group(group);
  app.AddOption("--save_checkpoints_secs", &flags->save_checkpoints_secs,
                "Seconds between two checkpoints")
      .Group(group);
  app.AddOption("--save_checkpoints_steps", &flags->save_checkpoints_steps,
                "Steps between two checkpoints")
      .Group(group);
  app.AddOption("--save_deadline_secs", &flags->save_deadline_secs,
                "Seconds for which the last checkpoint and the export are tried again when the "
                "disk is full or away (default: 3600)")
      .Group(group);
  app.AddOption("--save_summaries_steps", &flags->save_summaries_steps,
                "Steps between two summaries")
      .Group(group);
  app.AddOption("--log_steps", &flags->log_steps,
                "Steps between two lines of the log")
      .Group(group);
  app.AddFlag("--json-logs", &flags->json_logs,
              "Also log a JSON line for each step line")
      .Group(group);
  app.AddFlag("--verbose", &flags->verbose, "Log at level debug").Group(group);
}

absl::StatusOr<Json> BaseConfig(const Flags& flags, const GetEnv& env, FileSystem& files,
                                const NeededPaths& needed) {
  std::string text = env("TAAS_TRAINER").value_or("{}");
  std::string source = "TAAS_TRAINER";
  if (!flags.config.empty()) {
    source = "--config";
    text = flags.config;
    if (text.find_first_not_of(" \t\n") == std::string::npos ||
        text[text.find_first_not_of(" \t\n")] != '{') {
      ASSIGN_OR_RETURN(text, ReadBounded(files, flags.config, kConfigBytesMax));
      source = flags.config;
    }
  }
  std::vector<VolumeDir> volumes;
  for (const std::string& volume : flags.volumes) {
    ASSIGN_OR_RETURN(volumes.emplace_back(), ParseVolumeDir(volume));
  }
  ASSIGN_OR_RETURN(const std::string trainer, TrainerOfConfig(text, source, volumes, needed));
  return Json::parse(trainer);
}

// The object `name` of `json`, made if there is none. What is no object is the parser's to refuse.
Json& Part(Json& json, const char* name) {
  Json& part = json[name];
  if (part.is_null()) part = Json::object();
  return part;
}

template <typename T>
void Set(Json& json, const char* part, const char* name, const std::optional<T>& value) {
  if (!value) return;
  Json& object = part == nullptr ? json : Part(json, part);
  if (object.is_object()) object[name] = *value;
}

// {"images": …, "labels": …} of `set`, or nothing if there are no such files.
absl::StatusOr<std::optional<Json>> FindIdx(FileSystem& files, const std::string& dir,
                                            const std::string& set, const std::string& classic) {
  for (const std::string& suffix : {std::string(".gz"), std::string()}) {
    const std::pair<std::string, std::string> names[] = {
        {classic + "-images-idx3-ubyte", classic + "-labels-idx1-ubyte"},
        {set + "-images", set + "-labels"}};
    for (const auto& [images, labels] : names) {
      const std::string path = dir + "/" + images + suffix;
      ASSIGN_OR_RETURN(const bool exists, files.Exists(path));
      if (!exists) continue;
      return std::optional<Json>(
          Json{{"images", path}, {"labels", dir + "/" + labels + suffix}});
    }
  }
  return std::optional<Json>();
}

absl::Status SetData(FileSystem& files, const std::string& dir, Json& json) {
  ASSIGN_OR_RETURN(const auto train, FindIdx(files, dir, "train", "train"));
  if (!train) {
    return absl::NotFoundError("--data_dir " + dir +
                               ": there is no train-images-idx3-ubyte.gz (nor train-images.gz); "
                               "`taas-trainer data fetch mnist " + dir + "` lays the files there. "
                               "For a text or a table say format and files with --config FILE "
                               "(spec.trainer.data)");
  }
  json["data"] = {{"format", "idx"}, {"train", *train}};
  ASSIGN_OR_RETURN(const auto test, FindIdx(files, dir, "test", "t10k"));
  if (test) json["data"]["test"] = *test;
  return absl::OkStatus();
}

void SetModel(const Flags& flags, Json& json) {
  // The classic script's model, where nothing else is said.
  constexpr int64_t kClassicHidden = 100;
  if (flags.model) json["model"] = {{"name", *flags.model}};
  const bool classic = !json.contains("model") && (flags.data_dir || !flags.hidden_units.empty());
  if (classic) json["model"] = {{"name", "mlp"}};
  if (!flags.hidden_units.empty()) {
    Part(json, "model")["hidden"] = flags.hidden_units;
  } else if (json.contains("model") && json["model"] == Json{{"name", "mlp"}}) {
    json["model"]["hidden"] = {kClassicHidden};
  }
}

void SetStrategy(const Flags& flags, Json& json) {
  Set(json, "strategy", "type", flags.strategy);
  if (flags.towers && !flags.strategy) Part(json, "strategy")["type"] = "Towers";
  Set(json, "strategy", "towers", flags.towers);
  if (flags.sync_replicas) {
    Part(json, "strategy")["mode"] = *flags.sync_replicas ? "Sync" : "Async";
  }
  Set(json, "strategy", "replicasToAggregate", flags.replicas_to_aggregate);
  Set(json, "strategy", "maxStaleness", flags.max_staleness);
  if (!flags.backup_workers) return;
  int64_t number = 0;
  const char* const end = flags.backup_workers->data() + flags.backup_workers->size();
  const auto [rest, error] = std::from_chars(flags.backup_workers->data(), end, number);
  if (error == std::errc() && rest == end) Part(json, "strategy")["backupWorkers"] = number;
  else Set(json, "strategy", "backupWorkers", flags.backup_workers);
}

void SetEngine(const Flags& flags, Json& json) {
  if (flags.log_device_placement) Part(json, "engine")["logDevicePlacement"] = true;
  if (flags.soft_placement) Part(json, "engine")["softPlacement"] = true;
  if (flags.deterministic) Part(json, "engine")["deterministic"] = true;
  Set(json, "engine", "precision", flags.precision);
  Set(json, "engine", "interOpThreads", flags.inter_op_threads);
  Set(json, "engine", "intraOpThreads", flags.intra_op_threads);
  if (flags.trace) Part(Part(json, "engine"), "trace")["file"] = *flags.trace;
  const auto steps = flags.trace_steps ? ReadSteps(*flags.trace_steps) : std::nullopt;
  if (!steps) return;
  Json& trace = Part(Part(json, "engine"), "trace");
  trace["fromStep"] = steps->from;
  trace["steps"] = steps->to - steps->from + 1;
}

// A name in the environment, with the operator's prefix or as scripts have it.
std::optional<std::string> Classic(const GetEnv& env, const std::string& name) {
  if (auto value = env(("TAAS_" + name).c_str())) return value;
  return env(name.c_str());
}

absl::StatusOr<int> TaskIndex(const Flags& flags, const GetEnv& env) {
  if (flags.task_index) return *flags.task_index;
  const auto text = Classic(env, "TASK_INDEX");
  if (!text) return 0;
  int value = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, value);
  if (error == std::errc() && rest == end) return value;
  return absl::InvalidArgumentError("TASK_INDEX must be a whole number, is \"" + *text + "\"");
}

}  // namespace

void AddModelFlags(Command& app, Flags* flags) {
  AddModelFlagsTo(app, "Which model it is; TAAS_TRAINER without them", flags);
}

void AddFlags(Command& app, Flags* flags) {
  AddClusterFlags(app, flags);
  AddTrainerFlags(app, flags);
  AddEngineFlags(app, flags);
  AddOutputFlags(app, flags);
  app.SetFooter(kOrder);
}

bool SaysWhatToTrain(const Flags& flags, const GetEnv& env) {
  return !flags.config.empty() || env("TAAS_TRAINER").has_value() || flags.model ||
         flags.data_dir || !flags.hidden_units.empty();
}

bool SaysWhoItIs(const Flags& flags) {
  return flags.chief_hosts || flags.ps_hosts || flags.worker_hosts || flags.job_name ||
         flags.task_index;
}

absl::StatusOr<std::string> TrainerJson(const Flags& flags, const GetEnv& env, FileSystem& files,
                                        const NeededPaths& needed) {
  ASSIGN_OR_RETURN(Json json, BaseConfig(flags, env, files, needed));
  SetModel(flags, json);
  if (flags.data_dir) {
    RETURN_IF_ERROR(SetData(files, *flags.data_dir, json));
  }
  if (!SaysWhatToTrain(flags, env)) {
    return absl::InvalidArgumentError(
        "there is nothing to train: give --data_dir DIR and --train_steps N, or --config FILE with "
        "spec.trainer of a job, or set TAAS_TRAINER; `taas-trainer data fetch mnist DIR` lays "
        "examples into DIR");
  }
  Set(json, nullptr, "maxSteps", flags.train_steps);
  Set(json, nullptr, "batchSize", flags.batch_size);
  Set(json, nullptr, "seed", flags.seed);
  Set(json, nullptr, "logSteps", flags.log_steps);
  Set(json, "optimizer", "learningRate", flags.learning_rate);
  Set(json, "optimizer", "name", flags.optimizer);
  Set(json, "optimizer", "momentum", flags.momentum);
  Set(json, "regularization", "l2", flags.l2);
  Set(json, "movingAverage", "decay", flags.moving_average_decay);
  SetStrategy(flags, json);
  SetEngine(flags, json);
  Set(json, "checkpoint", "dir", flags.log_dir);
  Set(json, "checkpoint", "dir", flags.checkpoint_dir);
  Set(json, "checkpoint", "everySeconds", flags.save_checkpoints_secs);
  Set(json, "checkpoint", "everySteps", flags.save_checkpoints_steps);
  Set(json, "checkpoint", "saveDeadlineSeconds", flags.save_deadline_secs);
  Set(json, "summaries", "dir", flags.log_dir);
  Set(json, "summaries", "everySteps", flags.save_summaries_steps);
  if (flags.json_logs) json["jsonLogs"] = true;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<std::string> ReadToken(const Flags& flags, const GetEnv& env, FileSystem& files) {
  std::string source = kTokenVariable;
  std::string token = env(kTokenVariable).value_or("");
  if (flags.job_token_file) {
    source = "--job_token_file " + *flags.job_token_file;
    ASSIGN_OR_RETURN(token, ReadBounded(files, *flags.job_token_file, kTokenFileBytesMax));
    // Editors and echo end a file with a line's end.
    while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
  }
  if (comm::IsToken(token) || (token.empty() && !flags.job_token_file)) return token;
  return absl::InvalidArgumentError(source + " must hold 1 to " +
                                    std::to_string(comm::kTokenBytesMax) +
                                    " printable characters without spaces");
}

absl::StatusOr<std::optional<ClusterSpec>> ReadCluster(const Flags& flags, const GetEnv& env) {
  const bool by_flags = SaysWhoItIs(flags);
  const auto json = env("TF_CONFIG");
  if (!by_flags && json) {
    ASSIGN_OR_RETURN(ClusterSpec cluster, ParseTfConfig(*json));
    const ClassicHosts listed{.chief_hosts = Classic(env, "CHIEF_HOSTS").value_or(""),
                              .worker_hosts = Classic(env, "WORKER_HOSTS").value_or("")};
    RETURN_IF_ERROR(CompleteSparse(listed, &cluster));
    return std::optional<ClusterSpec>(std::move(cluster));
  }
  const auto take = [&](const std::optional<std::string>& flag, const char* name) {
    return flag ? *flag : Classic(env, name).value_or("");
  };
  ClassicHosts hosts{.chief_hosts = take(flags.chief_hosts, "CHIEF_HOSTS"),
                     .ps_hosts = take(flags.ps_hosts, "PS_HOSTS"),
                     .worker_hosts = take(flags.worker_hosts, "WORKER_HOSTS"),
                     .job_name = take(flags.job_name, "JOB_NAME")};
  // A name alone says nothing: build servers set JOB_NAME too.
  const bool listed = !hosts.ps_hosts.empty() || !hosts.worker_hosts.empty();
  if (!by_flags && (hosts.job_name.empty() || !listed)) return std::optional<ClusterSpec>();
  if (hosts.job_name.empty()) {
    return absl::InvalidArgumentError(
        "--job_name is missing: it says which of the hosts this process is, with --task_index");
  }
  ASSIGN_OR_RETURN(hosts.task_index, TaskIndex(flags, env));
  ASSIGN_OR_RETURN(ClusterSpec cluster, ClusterFromHosts(hosts));
  return std::optional<ClusterSpec>(std::move(cluster));
}

}  // namespace taas
