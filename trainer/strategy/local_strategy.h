// Training in one process: the same graph, batches, optimizer, checkpoints and evaluation, and
// nobody else. With towers a step is one update of several batches.
//
// Ownership: borrows all. Threads: the caller's. Errors: Cancelled (stopped; a last checkpoint is
// written), others permanent.
//
//   RETURN_IF_ERROR(RunLocal(clock, config, task, store.get(), board, log, stop));

#ifndef TRAINER_STRATEGY_LOCAL_STRATEGY_H_
#define TRAINER_STRATEGY_LOCAL_STRATEGY_H_

#include "absl/status/status.h"
#include "operator/base/clock.h"
#include "trainer/config/trainer_config.h"
#include "trainer/status/status_board.h"
#include "trainer/status/step_log.h"
#include "trainer/strategy/snapshot.h"
#include "trainer/strategy/stop_flag.h"
#include "trainer/strategy/training_task.h"

namespace taas {

// `store` may be null: no checkpoints. Whoever opened it releases it.
absl::Status RunLocal(const Clock& clock, const TrainerConfig& config, TrainingTask& task,
                      SnapshotStore* store, StatusBoard& board, StepLog& log, const StopFlag& stop);

}  // namespace taas

#endif  // TRAINER_STRATEGY_LOCAL_STRATEGY_H_
