#include "trainer/config/trainer_config.h"

#include <charconv>
#include <initializer_list>
#include <limits>

#include "nlohmann/json.hpp"
#include "operator/base/status.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// What a double holds exactly; the CRD has the same bound.
constexpr int64_t kSeedMax = 9'007'199'254'740'991;
constexpr int64_t kStepsMax = 1'000'000'000'000;
constexpr int64_t kBatchMax = 1'000'000;
constexpr int64_t kIntMax = 1'000'000'000;

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
      return Bad((path.empty() ? "" : path + ".") + name, "unknown field; known are " + list);
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

absl::Status ReadObject(const Json& object, const char* name, bool required, std::string* out) {
  const auto found = object.find(name);
  if (found == object.end()) {
    return required ? Bad(name, "is required") : absl::OkStatus();
  }
  if (!found->is_object()) return Bad(name, "must be an object, is " + found->dump());
  *out = found->dump();
  return absl::OkStatus();
}

absl::Status ReadStrategy(const Json& object, TrainerConfig* config) {
  const auto found = object.find("strategy");
  if (found == object.end()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckFields(*found, "strategy", {"type", "mode"}));
  const Json type = found->value("type", Json("ParameterServer"));
  if (type == "ParameterServer") config->strategy = StrategyType::kParameterServer;
  else if (type == "Local") config->strategy = StrategyType::kLocal;
  else return Bad("strategy.type", "must be ParameterServer or Local, is " + type.dump());
  const Json mode = found->value("mode", Json("Async"));
  if (mode != "Async") return Bad("strategy.mode", "must be Async, is " + mode.dump());
  return absl::OkStatus();
}

absl::Status ReadCheckpoint(const Json& object, TrainerConfig* config) {
  const auto found = object.find("checkpoint");
  if (found == object.end()) return absl::OkStatus();
  const std::string path = "checkpoint";
  RETURN_IF_ERROR(CheckFields(*found, path, {"dir", "everySeconds", "everySteps", "keep"}));
  const auto dir = found->find("dir");
  if (dir == found->end() || !dir->is_string() || dir->get<std::string>().empty()) {
    return Bad("checkpoint.dir", "must be the path of a directory");
  }
  config->checkpoint_dir = dir->get<std::string>();
  RETURN_IF_ERROR(
      ReadInt(*found, path, "everySeconds", 1, kIntMax, &config->checkpoint_seconds));
  RETURN_IF_ERROR(ReadInt(*found, path, "everySteps", 1, kStepsMax, &config->checkpoint_steps));
  return ReadInt(*found, path, "keep", 1, 10'000, &config->checkpoint_keep);
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

}  // namespace

absl::StatusOr<TrainerConfig> ParseTrainerConfig(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return absl::InvalidArgumentError(
        "TAAS_TRAINER: not JSON; it must hold the object spec.trainer of the job");
  }
  RETURN_IF_ERROR(CheckFields(json, "",
                              {"image", "model", "data", "strategy", "optimizer", "batchSize",
                               "maxSteps", "seed", "checkpoint", "logSteps", "jsonLogs"}));
  TrainerConfig config;
  config.optimizer = R"({"name":"sgd","learningRate":0.1})";
  RETURN_IF_ERROR(ReadObject(json, "model", true, &config.model));
  RETURN_IF_ERROR(ReadObject(json, "data", true, &config.data));
  RETURN_IF_ERROR(ReadObject(json, "optimizer", false, &config.optimizer));
  RETURN_IF_ERROR(ReadStrategy(json, &config));
  RETURN_IF_ERROR(ReadCheckpoint(json, &config));
  RETURN_IF_ERROR(ReadInt(json, "", "batchSize", 1, kBatchMax, &config.batch_size));
  RETURN_IF_ERROR(ReadInt(json, "", "maxSteps", 1, kStepsMax, &config.max_steps));
  RETURN_IF_ERROR(ReadInt(json, "", "logSteps", 1, kIntMax, &config.log_steps));
  int64_t seed = static_cast<int64_t>(config.seed);
  RETURN_IF_ERROR(ReadInt(json, "", "seed", 0, kSeedMax, &seed));
  config.seed = static_cast<uint64_t>(seed);
  if (const auto logs = json.find("jsonLogs"); logs != json.end()) {
    if (!logs->is_boolean()) return Bad("jsonLogs", "must be true or false, is " + logs->dump());
    config.json_logs = logs->get<bool>();
  }
  return config;
}

absl::Status ApplyEnvironment(const GetEnv& get, TrainerConfig* config) {
  if (const auto steps = get("TF_MAX_STEPS")) {
    ASSIGN_OR_RETURN(config->max_steps, ParseWhole("TF_MAX_STEPS", *steps, kStepsMax));
  }
  if (const auto dir = get("TF_LOGDIR"); dir && !dir->empty()) config->checkpoint_dir = *dir;
  if (const auto seconds = get("TF_SAVE_CHECKPOINTS_SECS")) {
    ASSIGN_OR_RETURN(config->checkpoint_seconds,
                     ParseWhole("TF_SAVE_CHECKPOINTS_SECS", *seconds, kIntMax));
  }
  if (config->max_steps < 1) return Bad("maxSteps", "is required");
  return absl::OkStatus();
}

std::string ConfigHash(const TrainerConfig& config) {
  const std::string text = config.model + "\n" + config.data + "\n" + config.optimizer + "\n" +
                           std::to_string(static_cast<int>(config.strategy)) + "\n" +
                           std::to_string(config.batch_size) + "\n" +
                           std::to_string(config.max_steps) + "\n" + std::to_string(config.seed);
  // FNV-1a: this guards against mistakes, not against enemies.
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211u;
  char hex[17];
  const auto end = std::to_chars(hex, hex + sizeof(hex), hash, 16).ptr;
  return std::string(hex, end);
}

}  // namespace taas
