#include <chrono>

#include "operator/base/status.h"
#include "trainer/cmd/role.h"
#include "trainer/evaluator/evaluator.h"

namespace taas {

absl::Status RunEvaluator(Role& role) {
  const TrainerConfig& config = role.config();
  ASSIGN_OR_RETURN(const auto status_page, role.ServeStatus());
  if (config.checkpoint_dir.empty()) {
    return absl::InvalidArgumentError(
        "an evaluator needs checkpoint.dir: it evaluates the checkpoints that appear there");
  }
  ASSIGN_OR_RETURN(const auto task, role.MakeTask());
  // A directory of its own: TensorBoard shows each as a run, and no run may have two writers.
  Recorder recorder(role.clock(), role.files(),
                    {.dir = config.summaries_dir.empty() ? "" : config.summaries_dir + "/eval",
                     .job = role.process().job,
                     .every = 1,
                     .histograms = false},
                    role.series());
  ASSIGN_OR_RETURN(StepLog log, role.MakeStepLog(*task, nullptr));
  const auto show = [&](const Evaluation& evaluation) {
    log.OnEvaluation(evaluation);
    recorder.Record({.step = evaluation.step,
                     .loss = evaluation.loss,
                     .accuracy = evaluation.accuracy,
                     .perplexity = evaluation.perplexity});
  };
  Evaluator evaluator(role.clock(), role.files(),
                      {.dir = config.checkpoint_dir,
                       .max_steps = config.max_steps,
                       .every = std::chrono::seconds(config.evaluation_seconds),
                       .moving_average = config.moving_average},
                      role.board(), *task, show);
  return evaluator.Run(role.stop());
}

}  // namespace taas
