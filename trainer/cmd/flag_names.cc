#include "trainer/cmd/flag_names.h"

#include <cstddef>

namespace taas {
namespace {

struct FlagOfField {
  std::string_view field;
  std::string_view flag;
  bool given = false;
};

// The field, or one that it lies in.
bool IsOf(std::string_view path, std::string_view field) {
  if (!path.starts_with(field)) return false;
  return path.size() == field.size() || path[field.size()] == '.' || path[field.size()] == '[';
}

}  // namespace

std::optional<std::string> InFlagWords(const Flags& flags, const GetEnv& env,
                                       std::string_view error) {
  const FlagOfField kFlags[] = {
      {"model", "--model", flags.model.has_value()},
      {"model.hidden", "--hidden_units", !flags.hidden_units.empty()},
      {"data", "--data_dir", flags.data_dir.has_value()},
      {"maxSteps", "--train_steps", flags.train_steps.has_value()},
      {"batchSize", "--batch_size", flags.batch_size.has_value()},
      {"seed", "--seed", flags.seed.has_value()},
      {"logSteps", "--log_steps", flags.log_steps.has_value()},
      {"optimizer", "--optimizer", flags.optimizer.has_value()},
      {"optimizer.learningRate", "--learning_rate", flags.learning_rate.has_value()},
      {"optimizer.momentum", "--momentum", flags.momentum.has_value()},
      {"regularization.l2", "--l2", flags.l2.has_value()},
      {"movingAverage.decay", "--moving_average_decay", flags.moving_average_decay.has_value()},
      {"strategy", "--strategy", flags.strategy.has_value()},
      {"strategy.mode", "--sync_replicas", flags.sync_replicas.has_value()},
      {"strategy.replicasToAggregate", "--replicas_to_aggregate",
       flags.replicas_to_aggregate.has_value()},
      {"strategy.backupWorkers", "--backup_workers", flags.backup_workers.has_value()},
      {"strategy.maxStaleness", "--max_staleness", flags.max_staleness.has_value()},
      {"strategy.towers", "--num_towers", flags.towers.has_value()},
      {"engine.precision", "--precision", flags.precision.has_value()},
      {"engine.interOpThreads", "--inter-op-threads", flags.inter_op_threads.has_value()},
      {"engine.intraOpThreads", "--intra-op-threads", flags.intra_op_threads.has_value()},
      {"engine.trace", "--trace", flags.trace.has_value()},
      {"checkpoint.dir", "--checkpoint_dir", flags.checkpoint_dir.has_value()},
      {"checkpoint.everySeconds", "--save_checkpoints_secs",
       flags.save_checkpoints_secs.has_value()},
      {"checkpoint.everySteps", "--save_checkpoints_steps",
       flags.save_checkpoints_steps.has_value()},
      {"checkpoint.saveDeadlineSeconds", "--save_deadline_secs",
       flags.save_deadline_secs.has_value()},
      {"summaries.everySteps", "--save_summaries_steps", flags.save_summaries_steps.has_value()},
  };
  const size_t colon = error.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view path = error.substr(0, colon);
  const std::string_view cause = error.substr(colon);
  const FlagOfField* found = nullptr;
  for (const FlagOfField& entry : kFlags) {
    const bool nearer = found == nullptr || entry.field.size() > found->field.size();
    if (nearer && IsOf(path, entry.field)) found = &entry;
  }
  if (found == nullptr) return std::nullopt;
  // What nobody gave, the flag would have given.
  const bool elsewhere = !flags.config.empty() || env("TAAS_TRAINER").has_value();
  const bool missing = cause.starts_with(": is required") && !elsewhere;
  if (!found->given && !missing) return std::nullopt;
  return std::string(found->flag) + std::string(cause);
}

}  // namespace taas
