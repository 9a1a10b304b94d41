#include "trainer/config/trainer_config.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <utility>

#include "operator/base/closest_name.h"
#include "operator/base/hash.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/config/json_text.h"
#include "trainer/optimizer/gradient_clip.h"
#include "trainer/optimizer/optimizer.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// What a double holds exactly; the CRD has the same bound.
constexpr int64_t kSeedMax = 9'007'199'254'740'991;
constexpr int64_t kStepsMax = 1'000'000'000'000;
constexpr int64_t kBatchMax = 1'000'000;
constexpr int64_t kIntMax = 1'000'000'000;
// Of one job; a thousand replicas are the largest that are tested.
constexpr int64_t kAggregateMax = 100'000;
// Of no effect above: gradients are as stale as there are other replicas.
constexpr int64_t kStalenessMax = 100'000;
// Each tower is a thread with tensors of its own.
constexpr int64_t kTowersMax = 64;
constexpr double kPenaltyMax = 1e6;
// Of the workers of a job, as the CRD has it.
constexpr int64_t kWorkersMax = 10'000;
// Below, a process that the machine does not run for a moment would be lost; above, the operator
// has long replaced it.
constexpr int64_t kHeartbeatMin = 2;
constexpr int64_t kHeartbeatMax = 600;
// More than any machine that this is for has processors for.
constexpr int64_t kThreadsMax = 256;
// Each holds an event per op; StepTrace has a bound of its own.
constexpr int64_t kTraceStepsMax = 10'000;
// Smaller files only make more of them; the file names have five digits.
constexpr int64_t kShardBytesMin = int64_t{1} << 20;
constexpr int64_t kShardBytesMax = 1'000'000'000'000;
// A larger one makes an infinity of every gradient.
constexpr double kLossScaleMax = 16'777'216;

absl::Status Bad(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(path + ": " + what);
}

absl::Status CheckFields(const Json& object, const std::string& path,
                         std::initializer_list<const char*> known) {
  if (!object.is_object()) {
    return Bad(path.empty() ? "TAAS_TRAINER" : path, "must be an object, is " + object.dump());
  }
  for (const auto& [name, value] : object.items()) {
    bool found = false;
    std::string list;
    for (const char* field : known) {
      found = found || name == field;
      list += (list.empty() ? "" : ", ") + std::string(field);
    }
    if (!found) {
      const std::string meant = DidYouMean(name, {known.begin(), known.end()});
      return Bad((path.empty() ? "" : path + ".") + name,
                 "unknown field; " + (meant.empty() ? "known are " + list : meant));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadInt(const Json& object, const std::string& path, const char* name, int64_t low,
                     int64_t high, int64_t* out) {
  const auto found = object.find(name);
  if (found == object.end()) return absl::OkStatus();
  const std::string field = path.empty() ? name : path + "." + name;
  const bool fits = found->is_number_integer() &&
                    (!found->is_number_unsigned() ||
                     found->get<uint64_t>() <= uint64_t(std::numeric_limits<int64_t>::max()));
  if (!fits || found->get<int64_t>() < low || found->get<int64_t>() > high) {
    return Bad(field, "must be a whole number from " + std::to_string(low) + " to " +
                          std::to_string(high) + ", is " + found->dump());
  }
  *out = found->get<int64_t>();
  return absl::OkStatus();
}

absl::Status ReadBool(const Json& object, const std::string& path, const char* name, bool* out) {
  const auto found = object.find(name);
  if (found == object.end()) return absl::OkStatus();
  if (!found->is_boolean()) {
    return Bad(path.empty() ? name : path + "." + name, "must be true or false, is " +
                                                            found->dump());
  }
  *out = found->get<bool>();
  return absl::OkStatus();
}

absl::Status ReadDirectory(const Json& object, const std::string& path, std::string* out) {
  const auto dir = object.find("dir");
  if (dir == object.end() || !dir->is_string() || dir->get<std::string>().empty()) {
    return Bad(path + ".dir", "must be the path of a directory");
  }
  *out = dir->get<std::string>();
  return absl::OkStatus();
}

absl::Status ReadObject(const Json& object, const char* name, std::string* out) {
  const auto found = object.find(name);
  if (found == object.end()) return Bad(name, "is required");
  if (!found->is_object()) return Bad(name, "must be an object, is " + found->dump());
  *out = found->dump();
  return absl::OkStatus();
}

absl::Status ReadBackups(const Json& strategy, BackupWorkers* out) {
  const auto found = strategy.find("backupWorkers");
  if (found == strategy.end()) return absl::OkStatus();
  const std::string text = found->is_string() ? found->get<std::string>() : "";
  if (!text.empty() && text.back() == '%') {
    const char* end = text.data() + text.size() - 1;
    const auto [rest, error] = std::from_chars(text.data(), end, out->value);
    out->percent = true;
    if (error == std::errc() && rest == end && out->value >= 0 && out->value < 100) {
      return absl::OkStatus();
    }
  } else if (found->is_number_integer() && found->get<int64_t>() >= 0 &&
             found->get<int64_t>() <= kAggregateMax) {
    out->value = found->get<int64_t>();
    return absl::OkStatus();
  }
  return Bad("strategy.backupWorkers", "must be a number of replicas, or a percentage from \"0%\" "
                                       "to \"99%\", is " + found->dump());
}

absl::Status CheckStrategy(const Json& strategy, const TrainerConfig& config) {
  const bool sync = config.mode == UpdateMode::kSync;
  if (sync && config.strategy != StrategyType::kParameterServer) {
    return Bad("strategy.mode", "Sync is of type ParameterServer; of AllReduce each step is, and "
                                "one process has nobody to wait for");
  }
  for (const char* field : {"replicasToAggregate", "backupWorkers"}) {
    if (!sync && strategy.contains(field)) {
      return Bad(std::string("strategy.") + field, "is of mode Sync only");
    }
  }
  if (config.max_staleness &&
      (sync || config.strategy != StrategyType::kParameterServer)) {
    return Bad("strategy.maxStaleness", "is of type ParameterServer and mode Async only");
  }
  if (config.replicas_to_aggregate > 0 && config.backup_workers.value > 0) {
    return Bad("strategy.replicasToAggregate",
               "says the same as backupWorkers in another way; give one of them");
  }
  if (config.strategy != StrategyType::kTowers && strategy.contains("towers")) {
    return Bad("strategy.towers", "is of type Towers only");
  }
  if (config.strategy != StrategyType::kAllReduce && strategy.contains("heartbeatSeconds")) {
    return Bad("strategy.heartbeatSeconds", "is of type AllReduce only");
  }
  const bool one_process = config.strategy == StrategyType::kLocal ||
                           config.strategy == StrategyType::kTowers;
  if (one_process && strategy.contains("gradientPrecision")) {
    return Bad("strategy.gradientPrecision", "is of types ParameterServer and AllReduce only");
  }
  return absl::OkStatus();
}

absl::Status ReadStrategy(const Json& object, TrainerConfig* config) {
  const auto found = object.find("strategy");
  if (found == object.end()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckFields(*found, "strategy", {"type", "mode", "replicasToAggregate",
                                                   "backupWorkers", "maxStaleness", "towers",
                                                   "heartbeatSeconds", "gradientPrecision"}));
  const Json type = found->value("type", Json("ParameterServer"));
  if (type == "ParameterServer") config->strategy = StrategyType::kParameterServer;
  else if (type == "Local") config->strategy = StrategyType::kLocal;
  else if (type == "Towers") config->strategy = StrategyType::kTowers;
  else if (type == "AllReduce") config->strategy = StrategyType::kAllReduce;
  else return Bad("strategy.type",
                  "must be ParameterServer, AllReduce, Local or Towers, is " + type.dump());
  const Json mode = found->value("mode", Json("Async"));
  if (mode == "Async") config->mode = UpdateMode::kAsync;
  else if (mode == "Sync") config->mode = UpdateMode::kSync;
  else return Bad("strategy.mode", "must be Async or Sync, is " + mode.dump());
  RETURN_IF_ERROR(ReadInt(*found, "strategy", "replicasToAggregate", 1, kAggregateMax,
                          &config->replicas_to_aggregate));
  RETURN_IF_ERROR(ReadInt(*found, "strategy", "towers", 1, kTowersMax, &config->towers));
  RETURN_IF_ERROR(ReadInt(*found, "strategy", "heartbeatSeconds", kHeartbeatMin, kHeartbeatMax,
                          &config->heartbeat_seconds));
  const Json precision = found->value("gradientPrecision", Json("float32"));
  if (precision != "float32" && precision != "bfloat16") {
    return Bad("strategy.gradientPrecision",
               "must be float32 or bfloat16, is " + precision.dump());
  }
  config->gradient_precision = precision;
  RETURN_IF_ERROR(ReadBackups(*found, &config->backup_workers));
  if (found->contains("maxStaleness")) {
    RETURN_IF_ERROR(ReadInt(*found, "strategy", "maxStaleness", 0, kStalenessMax,
                            &config->max_staleness.emplace()));
  }
  return CheckStrategy(*found, *config);
}

// Clipping and loss scaling are done where a gradient is computed, not where it is applied: they
// are taken out of `update`.
absl::Status TakeGradientWork(Json* update, TrainerConfig* config) {
  if (const auto clip = update->find("clip"); clip != update->end()) {
    config->clip = clip->dump();
    RETURN_IF_ERROR(GradientClip::Parse(config->clip).status());
    update->erase(clip);
  }
  const auto scale = update->find("lossScale");
  if (scale == update->end()) return absl::OkStatus();
  if (!scale->is_number() || !(scale->get<double>() > 0) || scale->get<double>() > kLossScaleMax) {
    return Bad("optimizer.lossScale", "must be a number above 0 and at most 16777216, is " +
                                          scale->dump());
  }
  config->loss_scale = scale->get<double>();
  update->erase(scale);
  return absl::OkStatus();
}

// The optimizer with the moving average put into it, which is what applies gradients.
absl::Status ReadUpdate(const Json& object, TrainerConfig* config) {
  Json update = Json{{"name", "sgd"}, {"learningRate", 0.1}};
  if (const auto given = object.find("optimizer"); given != object.end()) {
    if (!given->is_object()) return Bad("optimizer", "must be an object, is " + given->dump());
    // Defaults are field by field, as an API server puts them in.
    update.update(*given);
    if (update.contains("movingAverage")) return Bad("optimizer.movingAverage", "unknown field");
  }
  RETURN_IF_ERROR(TakeGradientWork(&update, config));
  if (const auto average = object.find("movingAverage"); average != object.end()) {
    update["movingAverage"] = *average;
    config->moving_average = true;
  }
  config->optimizer = update.dump();
  return Optimizer::Parse(config->optimizer).status();
}

absl::Status ReadRegularization(const Json& object, TrainerConfig* config) {
  const auto found = object.find("regularization");
  if (found == object.end()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckFields(*found, "regularization", {"l1", "l2"}));
  for (const auto& [name, out] : {std::pair("l1", &config->l1), std::pair("l2", &config->l2)}) {
    const Json value = found->value(name, Json(0));
    if (!value.is_number() || value.get<double>() < 0 || value.get<double>() > kPenaltyMax) {
      return Bad(std::string("regularization.") + name,
                 "must be a number from 0 to 1000000, is " + value.dump());
    }
    *out = value.get<double>();
  }
  return absl::OkStatus();
}

absl::Status ReadSummaries(const Json& object, TrainerConfig* config) {
  const auto found = object.find("summaries");
  if (found == object.end()) return absl::OkStatus();
  const std::string path = "summaries";
  RETURN_IF_ERROR(CheckFields(*found, path, {"dir", "everySteps", "histograms"}));
  RETURN_IF_ERROR(ReadDirectory(*found, path, &config->summaries_dir));
  RETURN_IF_ERROR(ReadInt(*found, path, "everySteps", 1, kIntMax, &config->summary_steps));
  return ReadBool(*found, path, "histograms", &config->summary_histograms);
}

absl::Status ReadEvaluation(const Json& object, TrainerConfig* config) {
  const auto found = object.find("evaluation");
  if (found == object.end()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckFields(*found, "evaluation", {"everySeconds"}));
  return ReadInt(*found, "evaluation", "everySeconds", 1, kIntMax, &config->evaluation_seconds);
}

absl::Status ReadTrace(const Json& object, EngineConfig* engine) {
  const auto found = object.find("trace");
  if (found == object.end()) return absl::OkStatus();
  const std::string path = "engine.trace";
  RETURN_IF_ERROR(CheckFields(*found, path, {"file", "fromStep", "steps"}));
  const Json file = found->value("file", Json());
  if (!file.is_string() || file.get<std::string>().empty()) {
    return Bad(path + ".file", "must be the path of a file");
  }
  engine->trace_file = file.get<std::string>();
  RETURN_IF_ERROR(ReadInt(*found, path, "fromStep", 1, kStepsMax, &engine->trace_from));
  return ReadInt(*found, path, "steps", 1, kTraceStepsMax, &engine->trace_steps);
}

absl::Status ReadEngine(const Json& object, EngineConfig* engine) {
  const auto found = object.find("engine");
  if (found == object.end()) return absl::OkStatus();
  const std::string path = "engine";
  RETURN_IF_ERROR(CheckFields(*found, path, {"logDevicePlacement", "softPlacement",
                                             "interOpThreads", "intraOpThreads", "deterministic",
                                             "precision", "trace"}));
  RETURN_IF_ERROR(ReadBool(*found, path, "logDevicePlacement", &engine->log_device_placement));
  RETURN_IF_ERROR(ReadBool(*found, path, "softPlacement", &engine->soft_placement));
  RETURN_IF_ERROR(
      ReadInt(*found, path, "interOpThreads", 1, kThreadsMax, &engine->inter_op_threads));
  RETURN_IF_ERROR(
      ReadInt(*found, path, "intraOpThreads", 1, kThreadsMax, &engine->intra_op_threads));
  RETURN_IF_ERROR(ReadBool(*found, path, "deterministic", &engine->deterministic));
  const Json precision = found->value("precision", Json("float32"));
  if (precision != "float32" && precision != "tf32" && precision != "bfloat16") {
    return Bad(path + ".precision", "must be float32, tf32 or bfloat16, is " + precision.dump());
  }
  engine->precision = precision.get<std::string>();
  return ReadTrace(*found, engine);
}

absl::Status ReadCheckpoint(const Json& object, TrainerConfig* config) {
  const auto found = object.find("checkpoint");
  if (found == object.end()) return absl::OkStatus();
  const std::string path = "checkpoint";
  RETURN_IF_ERROR(CheckFields(
      *found, path,
      {"dir", "everySeconds", "everySteps", "keep", "maxShardBytes", "saveDeadlineSeconds"}));
  RETURN_IF_ERROR(ReadDirectory(*found, path, &config->checkpoint_dir));
  RETURN_IF_ERROR(
      ReadInt(*found, path, "everySeconds", 1, kIntMax, &config->checkpoint_seconds));
  RETURN_IF_ERROR(ReadInt(*found, path, "everySteps", 1, kStepsMax, &config->checkpoint_steps));
  RETURN_IF_ERROR(ReadInt(*found, path, "keep", 1, 10'000, &config->checkpoint_keep));
  RETURN_IF_ERROR(ReadInt(*found, path, "saveDeadlineSeconds", 1, kIntMax,
                          &config->checkpoint_save_deadline));
  return ReadInt(*found, path, "maxShardBytes", kShardBytesMin, kShardBytesMax,
                 &config->checkpoint_shard_bytes);
}

absl::Status ReadExport(const Json& object, TrainerConfig* config) {
  const auto found = object.find("export");
  if (found == object.end()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckFields(*found, "export", {"format", "dir"}));
  RETURN_IF_ERROR(ReadDirectory(*found, "export", &config->export_dir));
  const Json format = found->value("format", Json());
  if (format != "safetensors" && format != "savedModel") {
    return Bad("export.format", "must be safetensors or savedModel, is " + format.dump());
  }
  config->export_format = format.get<std::string>();
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ParseWhole(const char* name, const std::string& text, int64_t high) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || value < 1 || value > high) {
    return Bad(name, "must be a whole number from 1 to " + std::to_string(high) + ", is \"" +
                         text + "\"");
  }
  return value;
}

// "MIN:MAX".
absl::StatusOr<WorkerBounds> ParseBounds(const char* name, const std::string& text) {
  WorkerBounds bounds;
  const char* const end = text.data() + text.size();
  const auto [middle, error] = std::from_chars(text.data(), end, bounds.min);
  bool good = error == std::errc() && middle != end && *middle == ':';
  if (good) {
    const auto [rest, wrong] = std::from_chars(middle + 1, end, bounds.max);
    good = wrong == std::errc() && rest == end;
  }
  if (good && bounds.min >= 1 && bounds.min <= bounds.max && bounds.max <= kWorkersMax) {
    return bounds;
  }
  return Bad(name, "must be MIN:MAX, numbers of workers from 1 to " + std::to_string(kWorkersMax) +
                       ", is \"" + text + "\"");
}

}  // namespace

absl::StatusOr<TrainerConfig> ParseTrainerConfig(std::string_view text) {
  ASSIGN_OR_RETURN(const Json json, ParseJsonText(text, "TAAS_TRAINER"));
  RETURN_IF_ERROR(CheckFields(json, "",
                              {"image", "model", "data", "strategy", "optimizer",
                               "regularization", "movingAverage", "batchSize", "maxSteps", "seed",
                               "checkpoint", "export", "summaries", "evaluation", "logSteps",
                               "jsonLogs", "engine"}));
  TrainerConfig config;
  RETURN_IF_ERROR(ReadObject(json, "model", &config.model));
  RETURN_IF_ERROR(ReadObject(json, "data", &config.data));
  RETURN_IF_ERROR(ReadUpdate(json, &config));
  RETURN_IF_ERROR(ReadRegularization(json, &config));
  RETURN_IF_ERROR(ReadStrategy(json, &config));
  RETURN_IF_ERROR(ReadCheckpoint(json, &config));
  RETURN_IF_ERROR(ReadExport(json, &config));
  RETURN_IF_ERROR(ReadSummaries(json, &config));
  RETURN_IF_ERROR(ReadEvaluation(json, &config));
  RETURN_IF_ERROR(ReadInt(json, "", "batchSize", 1, kBatchMax, &config.batch_size));
  RETURN_IF_ERROR(ReadInt(json, "", "maxSteps", 1, kStepsMax, &config.max_steps));
  RETURN_IF_ERROR(ReadInt(json, "", "logSteps", 1, kIntMax, &config.log_steps));
  int64_t seed = static_cast<int64_t>(config.seed);
  RETURN_IF_ERROR(ReadInt(json, "", "seed", 0, kSeedMax, &seed));
  config.seed = static_cast<uint64_t>(seed);
  RETURN_IF_ERROR(ReadBool(json, "", "jsonLogs", &config.json_logs));
  RETURN_IF_ERROR(ReadEngine(json, &config.engine));
  return config;
}

absl::Status ApplyEnvironment(const GetEnv& get, TrainerConfig* config) {
  if (const auto steps = get("TF_MAX_STEPS")) {
    ASSIGN_OR_RETURN(config->max_steps, ParseWhole("TF_MAX_STEPS", *steps, kStepsMax));
  }
  if (const auto dir = get("TF_LOGDIR"); dir && !dir->empty()) {
    config->checkpoint_dir = *dir;
    config->summaries_dir = *dir;
  }
  if (const auto seconds = get("TF_SAVE_CHECKPOINTS_SECS")) {
    ASSIGN_OR_RETURN(config->checkpoint_seconds,
                     ParseWhole("TF_SAVE_CHECKPOINTS_SECS", *seconds, kIntMax));
  }
  if (const auto steps = get("TF_SAVE_SUMMARIES_STEPS")) {
    ASSIGN_OR_RETURN(config->summary_steps,
                     ParseWhole("TF_SAVE_SUMMARIES_STEPS", *steps, kIntMax));
  }
  if (const auto workers = get("TAAS_ELASTIC_WORKERS"); workers && !workers->empty()) {
    ASSIGN_OR_RETURN(config->elastic, ParseBounds("TAAS_ELASTIC_WORKERS", *workers));
    if (config->strategy != StrategyType::kAllReduce) {
      return Bad("TAAS_ELASTIC_WORKERS", "is of strategy.type AllReduce only");
    }
  }
  if (config->max_steps < 1) return Bad("maxSteps", "is required");
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ResolveBackups(const BackupWorkers& backups, int64_t replicas) {
  if (backups.percent) {
    return std::min((replicas * backups.value + 99) / 100, std::max<int64_t>(0, replicas - 1));
  }
  if (backups.value < replicas || backups.value == 0) return backups.value;
  return Bad("strategy.backupWorkers",
             std::to_string(backups.value) + " of " + std::to_string(replicas) +
                 " training replicas leave none whose gradient counts");
}

absl::StatusOr<int64_t> GradientsPerStep(const TrainerConfig& config, int64_t replicas) {
  if (config.mode == UpdateMode::kAsync) return 1;
  if (config.replicas_to_aggregate > 0) return config.replicas_to_aggregate;
  ASSIGN_OR_RETURN(const int64_t backups, ResolveBackups(config.backup_workers, replicas));
  return std::max<int64_t>(1, replicas - backups);
}

int64_t ExamplesPerStep(const TrainerConfig& config, int64_t gradients) {
  return config.batch_size * config.towers * gradients;
}

std::string ConfigHash(const TrainerConfig& config) {
  std::string text = config.model + "\n" + config.data + "\n" + config.optimizer;
  for (const int64_t number :
       {static_cast<int64_t>(config.strategy), static_cast<int64_t>(config.mode),
        config.replicas_to_aggregate, config.backup_workers.value,
        int64_t{config.backup_workers.percent}, config.towers, config.batch_size, config.max_steps,
        static_cast<int64_t>(config.seed)}) {
    text += "\n" + std::to_string(number);
  }
  // Without it the text is that of earlier builds: a job goes on while its pods get a newer image.
  if (config.max_staleness) text += "\nstaleness " + std::to_string(*config.max_staleness);
  text += "\n" + Json({config.l1, config.l2, config.loss_scale}).dump();  // All digits.
  text += "\n" + config.clip;
  char hex[17];
  const auto end = std::to_chars(hex, hex + sizeof(hex), StableHash(text), 16).ptr;
  return std::string(hex, end);
}

}  // namespace taas
