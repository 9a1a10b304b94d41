// A training task around another: passes all on, so that a test says only what it watches.
//
// Ownership: borrows the task. Threads and errors: those of the task.
//
//   class Watched : public TaskAround { … absl::Status FillBatch(int64_t batch) override … };

#ifndef TRAINER_TESTING_TASK_AROUND_H_
#define TRAINER_TESTING_TASK_AROUND_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/task/training_task.h"

namespace taas {

class TaskAround : public TrainingTask {
 public:
  explicit TaskAround(TrainingTask& task) : task_(task) {}
  Session& session() override { return task_.session(); }
  std::vector<Session*> copies() override { return task_.copies(); }
  absl::Status FillBatch(int64_t batch) override { return task_.FillBatch(batch); }
  absl::Status FillBatches(std::span<const int64_t> batches) override {
    return task_.FillBatches(batches);
  }
  std::string data_identity() const override { return task_.data_identity(); }
  int64_t batches_per_step() const override { return task_.batches_per_step(); }
  absl::StatusOr<float> ComputeGradients(std::span<const int64_t> batches) override {
    return task_.ComputeGradients(batches);
  }
  bool makes_steps() const override { return task_.makes_steps(); }
  absl::Status LaunchStep() override { return task_.LaunchStep(); }
  absl::StatusOr<float> FinishStep() override { return task_.FinishStep(); }
  size_t steps_ahead() override { return task_.steps_ahead(); }
  MemoryUses memory_uses() override { return task_.memory_uses(); }
  std::string FirstNonFinite() override { return task_.FirstNonFinite(); }
  absl::StatusOr<std::optional<Evaluation>> Evaluate(
      const std::vector<TensorRef>& variables) override {
    return task_.Evaluate(variables);
  }
  absl::Status Export(int64_t step, const std::vector<TensorRef>& variables) override {
    return task_.Export(step, variables);
  }

 protected:
  TrainingTask& task_;
};

}  // namespace taas

#endif  // TRAINER_TESTING_TASK_AROUND_H_
