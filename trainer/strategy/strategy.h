// How the processes of a job train one model together: a table by `spec.trainer.strategy.type`, in
// which a process looks once for the part that it plays.
//
//   type               model held by        batches from                steps made by
//   ParameterServer    ShardSet (chief)     leases, or the servers      servers, as gradients come
//   AllReduce          every rank           UntrainedBatches            RankLoop
//   Local, Towers      the process itself   UntrainedBatches            RunLocal
//
// What each part does is in trainer/cmd, one file for each role.
//
// Ownership: the table is constant. Threads: any. Errors: InvalidArgument for a cluster that cannot
// train so.
//
//   const Part part = PartOf(config, cluster);
//   RETURN_IF_ERROR(part.strategy->check(*part.strategy, cluster));

#ifndef TRAINER_STRATEGY_STRATEGY_H_
#define TRAINER_STRATEGY_STRATEGY_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "trainer/cluster/tf_config.h"
#include "trainer/config/trainer_config.h"
#include "trainer/retry/error_policy.h"

namespace taas {

struct Strategy {
  StrategyType type;
  std::string_view name;  // As manifests have it.
  // Of the replica whose cluster this is; no evaluator's.
  TrainerRole (*role)(const TrainerConfig& config, const ClusterSpec& cluster);
  absl::Status (*check)(const Strategy& strategy, const ClusterSpec& cluster);
};

const Strategy& StrategyOf(StrategyType type);

// Of one process.
struct Part {
  const Strategy* strategy = nullptr;
  TrainerRole role = TrainerRole::kLocal;

  // Whether a last checkpoint when the job is stopped needs this process: then it is told to stop
  // instead of being ended at once.
  bool needed_to_save() const {
    return role != TrainerRole::kEvaluator && role != TrainerRole::kWorker;
  }
};

// Without a cluster a process is a program by itself.
Part PartOf(const TrainerConfig& config, const std::optional<ClusterSpec>& cluster);

// How many examples one step of the job trains, in the eyes of `part`: of several replicas in mode
// Sync, of all towers. What cannot be resolved, and is refused where training starts, counts as one
// gradient.
int64_t ExamplesPerStepOf(const Part& part, const TrainerConfig& config,
                          const std::optional<ClusterSpec>& cluster);

}  // namespace taas

#endif  // TRAINER_STRATEGY_STRATEGY_H_
