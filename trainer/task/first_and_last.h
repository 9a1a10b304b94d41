// What a training begins and ends with, whoever leads it.
//
// Ownership: borrows all. Threads: the caller's. Errors: those of TryOn for the disk, of the task
// for the rest; InvalidArgument for a model with numbers that are none.
//
//   ASSIGN_OR_RETURN(const bool found, LoadLast(tries, *store, &snapshot));
//   RETURN_IF_ERROR(FinishTraining(tries, task, {step, values, averages}, save, tell));

#ifndef TRAINER_TASK_FIRST_AND_LAST_H_
#define TRAINER_TASK_FIRST_AND_LAST_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/cut/snapshot.h"
#include "trainer/retry/try_on.h"
#include "trainer/task/training_task.h"

namespace taas {

// The newest good checkpoint; false and `snapshot` as it was if there is none.
absl::StatusOr<bool> LoadLast(const Tries& tries, SnapshotStore& store, Snapshot* snapshot);

struct Trained {
  int64_t step = 0;
  std::vector<TensorRef> values;     // In the session's order, both.
  std::vector<TensorRef> evaluated;  // The moving averages, where the job wants them.
};

// Checks what was trained, saves it, exports it, evaluates it. `save` is tried again while that may
// help.
absl::Status FinishTraining(const Tries& tries, TrainingTask& task, const Trained& trained,
                            const std::function<absl::Status()>& save,
                            const std::function<void(const Evaluation&)>& on_evaluation);

// What was trained so far is kept, if that can be: the process ends for another reason.
void SaveBeforeEnd(StatusBoard& board, const std::function<absl::Status()>& save);

}  // namespace taas

#endif  // TRAINER_TASK_FIRST_AND_LAST_H_
