// What every training replica does: take batch numbers, compute gradients, push them, take the new
// values.
//
// Ownership: borrows all. Threads: the caller's. Errors: InvalidArgument "Model diverged …"
// (permanent); those of the source and the task.
//
//   RETURN_IF_ERROR(RunReplica(source, task, {.on_step = [&](const StepResult& step) { … }}));

#ifndef TRAINER_REPLICA_REPLICA_LOOP_H_
#define TRAINER_REPLICA_REPLICA_LOOP_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "trainer/replica/work_source.h"
#include "trainer/task/training_task.h"

namespace taas {

struct StepResult {
  int64_t step = 0;  // Of the job, made by this replica's push.
  double loss = 0;
};

struct ReplicaObserver {
  std::function<void(const StepResult& step)> on_step = [](const StepResult&) {};
  // A gradient is ready to be pushed.
  std::function<void(int64_t batch)> on_gradient = [](int64_t) {};
  // A gradient was not needed: its step had passed, or its batch was part of the model.
  // The step is the job's at that moment.
  std::function<void(int64_t batch, const StepResult& step)> on_late = [](int64_t,
                                                                          const StepResult&) {};
  // Why the replica makes no progress; "" when it does again.
  std::function<void(const std::string& why)> on_trouble = [](const std::string&) {};
};

struct ReplicaOptions {
  // Gradients go to parameter servers in bfloat16 (ps::Exchange::Options::narrow).
  bool narrow = false;
};

absl::Status RunReplica(WorkSource& source, TrainingTask& task, const ReplicaObserver& observer,
                        const ReplicaOptions& options = {});

}  // namespace taas

#endif  // TRAINER_REPLICA_REPLICA_LOOP_H_
