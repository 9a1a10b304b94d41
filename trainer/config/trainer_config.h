// What to train: `spec.trainer` as the trainer gets it in TAAS_TRAINER, checked.
//
// Parsing is strict: a field that is not known here is an error that names it, so that a typing
// mistake never trains something else. model, data and optimizer are kept as JSON text for their
// own parsers.
//
// Ownership: value type. Threads: any. Errors: InvalidArgument, each naming the field with its
// path.
//
//   ASSIGN_OR_RETURN(TrainerConfig config, ParseTrainerConfig(getenv("TAAS_TRAINER")));
//   RETURN_IF_ERROR(ApplyEnvironment(getenv, &config));

#ifndef TRAINER_CONFIG_TRAINER_CONFIG_H_
#define TRAINER_CONFIG_TRAINER_CONFIG_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taas {

enum class StrategyType { kParameterServer, kLocal };

struct TrainerConfig {
  std::string model;      // JSON objects.
  std::string data;
  std::string optimizer;
  StrategyType strategy = StrategyType::kParameterServer;
  int64_t batch_size = 100;
  int64_t max_steps = 0;
  uint64_t seed = 1;
  std::string checkpoint_dir;  // "": no checkpoints, no resume.
  int64_t checkpoint_seconds = 600;
  int64_t checkpoint_steps = 0;  // 0: by time only.
  int64_t checkpoint_keep = 5;
  int64_t log_steps = 100;
  bool json_logs = false;
};

absl::StatusOr<TrainerConfig> ParseTrainerConfig(std::string_view json);

// The classic names TF_MAX_STEPS, TF_LOGDIR and TF_SAVE_CHECKPOINTS_SECS override the fields.
using GetEnv = std::function<std::optional<std::string>(const char* name)>;
absl::Status ApplyEnvironment(const GetEnv& get, TrainerConfig* config);

// Of everything that the replicas of a job must agree on; they compare it when they join.
std::string ConfigHash(const TrainerConfig& config);

}  // namespace taas

#endif  // TRAINER_CONFIG_TRAINER_CONFIG_H_
