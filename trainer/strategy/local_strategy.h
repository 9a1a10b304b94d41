// Training in one process: the same graph, batches, optimizer, checkpoints and evaluation, and
// nobody else. With towers a step is one update of several batches.
//
// Ownership: borrows all. Threads: the caller's. Errors: Cancelled (stopped; a last checkpoint is
// written), Unavailable (data or disk were away for too long: try again), others permanent.
//
//   RETURN_IF_ERROR(RunLocal(config, task, store.get(), log, {clock, board, stop}));

#ifndef TRAINER_STRATEGY_LOCAL_STRATEGY_H_
#define TRAINER_STRATEGY_LOCAL_STRATEGY_H_

#include "absl/status/status.h"
#include "trainer/config/trainer_config.h"
#include "trainer/cut/snapshot.h"
#include "trainer/retry/try_on.h"
#include "trainer/status/step_log.h"
#include "trainer/task/training_task.h"

namespace taas {

// `store` may be null: no checkpoints. Whoever opened it releases it.
absl::Status RunLocal(const TrainerConfig& config, TrainingTask& task, SnapshotStore* store,
                      StepLog& log, const Tries& tries);

}  // namespace taas

#endif  // TRAINER_STRATEGY_LOCAL_STRATEGY_H_
