// What to train: `spec.trainer` as the trainer gets it in TAAS_TRAINER, checked.
//
// Parsing is strict: a field that is not known here is an error that names it, so that a typing
// mistake never trains something else. model, data and optimizer are kept as JSON text for their
// own parsers; the optimizer's has read it already.
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

enum class StrategyType { kParameterServer, kLocal, kTowers, kAllReduce };

// How the gradients of training replicas meet on parameter servers: each applied when it arrives,
// or the mean of several as one update.
enum class UpdateMode { kAsync, kSync };

// "5%" or a number of replicas.
struct BackupWorkers {
  int64_t value = 0;
  bool percent = false;
};

// How many workers may train at a time: `spec.roles.worker.elastic`.
struct WorkerBounds {
  int64_t min = 1;
  int64_t max = 1;

  bool operator==(const WorkerBounds&) const = default;
};

// How one process computes a step: `spec.trainer.engine`. Replicas need not agree on it.
struct EngineConfig {
  bool log_device_placement = false;
  bool soft_placement = false;
  int64_t inter_op_threads = 1;
  int64_t intra_op_threads = 1;
  bool deterministic = false;
  std::string precision = "float32";  // Of products; or "tf32", "bfloat16".
  std::string trace_file;      // "": no trace.
  int64_t trace_from = 1;      // Of the steps of the process, from 1.
  int64_t trace_steps = 1;
};

struct TrainerConfig {
  std::string model;  // JSON objects.
  std::string data;
  // spec.trainer.optimizer with spec.trainer.movingAverage put into it: all that one who applies
  // gradients needs (Optimizer::Parse).
  std::string optimizer;
  // What one who computes gradients needs of spec.trainer.optimizer: `clip` as it is there
  // (GradientClip::Parse), "" without; the gradients are of this times the loss, then divided.
  std::string clip;
  double loss_scale = 1;
  StrategyType strategy = StrategyType::kParameterServer;
  UpdateMode mode = UpdateMode::kAsync;
  int64_t replicas_to_aggregate = 0;  // Of mode Sync; 0: see GradientsPerStep.
  BackupWorkers backup_workers;       // Of mode Sync.
  // Of mode Async: how many updates may have been made since the values that a gradient is of.
  std::optional<int64_t> max_staleness{};
  int64_t towers = 1;                 // Of strategy Towers.
  std::string gradient_precision = "float32";  // Between replicas; or "bfloat16".
  int64_t heartbeat_seconds = 5;      // Of strategy AllReduce: who is silent for so long is lost.
  std::optional<WorkerBounds> elastic;  // Likewise; nothing: as many as the cluster lists.
  double l1 = 0;                      // Of the loss, l1 · Σ|w| + l2 · Σw²/2 over the weights.
  double l2 = 0;
  bool moving_average = false;        // Evaluation uses the averages.
  int64_t batch_size = 100;
  int64_t max_steps = 0;
  uint64_t seed = 1;
  std::string checkpoint_dir;  // "": no checkpoints, no resume.
  int64_t checkpoint_seconds = 600;
  int64_t checkpoint_steps = 0;  // 0: by time only.
  int64_t checkpoint_keep = 5;
  int64_t checkpoint_save_deadline = 3'600;  // Seconds that the last save is tried for.
  int64_t checkpoint_shard_bytes = int64_t{4} << 30;  // Of one data file; a variable is not cut.
  std::string export_format;  // "": no export at the end; else "safetensors" or "savedModel".
  std::string export_dir;
  std::string summaries_dir;  // "": no event files.
  int64_t summary_steps = 100;
  bool summary_histograms = true;
  int64_t evaluation_seconds = 10;  // Between two looks for a new checkpoint.
  int64_t log_steps = 100;
  bool json_logs = false;
  EngineConfig engine;
};

absl::StatusOr<TrainerConfig> ParseTrainerConfig(std::string_view json);

// The classic names TF_MAX_STEPS, TF_LOGDIR (of checkpoints and summaries, as in TensorFlow),
// TF_SAVE_CHECKPOINTS_SECS and TF_SAVE_SUMMARIES_STEPS override the fields. TAAS_ELASTIC_WORKERS,
// "MIN:MAX", has what is not in spec.trainer: the bounds of an elastic job's workers.
using GetEnv = std::function<std::optional<std::string>(const char* name)>;
absl::Status ApplyEnvironment(const GetEnv& get, TrainerConfig* config);

// How many of `replicas` training replicas are backups in mode Sync. A percentage is rounded up,
// but one replica always remains; a number that leaves none is refused.
absl::StatusOr<int64_t> ResolveBackups(const BackupWorkers& backups, int64_t replicas);
// How many gradients make one update in mode Sync: replicasToAggregate, else the replicas that are
// not backups.
absl::StatusOr<int64_t> GradientsPerStep(const TrainerConfig& config, int64_t replicas);
// Examples behind one step of the job, for rates. `gradients` is 1 but in mode Sync.
int64_t ExamplesPerStep(const TrainerConfig& config, int64_t gradients = 1);

// Of everything that the replicas of a job must agree on; they compare it when they join.
std::string ConfigHash(const TrainerConfig& config);

}  // namespace taas

#endif  // TRAINER_CONFIG_TRAINER_CONFIG_H_
