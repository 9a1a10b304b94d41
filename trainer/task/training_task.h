// What a strategy trains: a compiled graph, a way to fill its inputs for a batch number, and an
// evaluation.
//
// Strategies know no models and no data, so that what trains one graph trains any.
//
// Ownership: owns its session and data. Threads: one at a time, but Evaluate may run beside the
// rest (it uses a session of its own). Errors: those of data and kernels.
//
//   RETURN_IF_ERROR(task.FillBatch(batch));
//   RETURN_IF_ERROR(task.session().Run(RunKind::kTrain));

#ifndef TRAINER_TASK_TRAINING_TASK_H_
#define TRAINER_TASK_TRAINING_TASK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/status.h"
#include "trainer/config/trainer_config.h"
#include "trainer/cut/snapshot.h"
#include "trainer/graph/memory_uses.h"
#include "trainer/graph/session.h"
#include "trainer/ps/layout.h"
#include "trainer/status/status_board.h"

namespace taas {

class Optimizer;

class TrainingTask {
 public:
  virtual ~TrainingTask() = default;
  virtual Session& session() = 0;
  // The sessions that hold the model, which has the same values in all between two steps: session()
  // alone, but for towers on devices of their own.
  virtual std::vector<Session*> copies() { return {&session()}; }
  // Fills the session's inputs with batch number `batch`; the same on every replica.
  virtual absl::Status FillBatch(int64_t batch) = 0;
  // Those of all that LaunchStep runs, with batches_per_step() batches.
  virtual absl::Status FillBatches(std::span<const int64_t> batches) {
    return FillBatch(batches[0]);
  }
  // Which data it trains on (trainer/data/data_identity.h); "" of one that has none.
  virtual std::string data_identity() const { return ""; }
  // How many batches make one update where a single process trains: more than one with towers.
  virtual int64_t batches_per_step() const { return 1; }
  // Leaves the gradients of the mean loss over `batches`, batches_per_step() of them, in the
  // session, and returns that loss.
  virtual absl::StatusOr<float> ComputeGradients(std::span<const int64_t> batches) {
    RETURN_IF_ERROR(FillBatch(batches[0]));
    RETURN_IF_ERROR(session().Run(RunKind::kTrain));
    return session().loss();
  }
  // Whether gradients and update of a step can be one run of each session that holds the model
  // (RunKind::kStep), in the halves that it has: LaunchStep makes it of the batches that were
  // filled, FinishStep returns the loss of the oldest that was launched.
  virtual bool makes_steps() const { return false; }
  virtual absl::Status LaunchStep() { return session().LaunchStep(); }
  virtual absl::StatusOr<float> FinishStep() {
    RETURN_IF_ERROR(session().AwaitStep());
    return session().loss();
  }
  // How many may be launched behind the one that is awaited next.
  virtual size_t steps_ahead() { return session().steps_ahead(); }
  // Of all its sessions, and of what works on their gradients.
  virtual MemoryUses memory_uses() { return session().memory_uses(); }
  // After either gave a loss that is no number: where the first one came from, or "".
  virtual std::string FirstNonFinite() { return session().FirstNonFinite(); }
  // Of `variables`, in the session's order. Nothing if there is no test data.
  virtual absl::StatusOr<std::optional<Evaluation>> Evaluate(
      const std::vector<TensorRef>& variables) = 0;
  // Writes `variables`, in the session's order, for other programs if the job wants that.
  virtual absl::Status Export(int64_t, const std::vector<TensorRef>&) {
    return absl::OkStatus();
  }
};

// "Model diverged with loss = NaN …", in one place for all strategies. `step` is the one that the
// loss would have been of.
struct LossOf {
  int64_t step = 0;
  int64_t batch = 0;
};
absl::Status CheckLoss(float loss, const LossOf& of, TrainingTask& task);

inline std::vector<TensorRef> VariablesOf(const Session& session) {
  std::vector<TensorRef> tensors;
  for (size_t i = 0; i < session.variables().size(); ++i) tensors.push_back(session.variable(i));
  return tensors;
}

inline std::vector<TensorRef> GradientsOf(const Session& session) {
  std::vector<TensorRef> tensors;
  for (size_t i = 0; i < session.variables().size(); ++i) tensors.push_back(session.gradient(i));
  return tensors;
}

// Of those that list them.
inline std::vector<std::optional<GradientRows>> GradientRowsOf(const Session& session) {
  std::vector<std::optional<GradientRows>> rows;
  for (size_t i = 0; i < session.variables().size(); ++i) rows.push_back(session.gradient_rows(i));
  return rows;
}

// What parameter servers hold: what is trained or moved. The rest never changes.
inline std::vector<ps::VariableSize> SizesOf(const Session& session) {
  std::vector<ps::VariableSize> sizes;
  for (const VariableInfo& variable : session.variables()) {
    const bool held = variable.trainable || variable.decay.has_value();
    ps::VariableSize size{.elements = held ? static_cast<int64_t>(variable.count) : 0,
                          .rows = variable.shape.rank() > 0 ? variable.shape.dim(0) : 1};
    if (variable.decay) size.decay = static_cast<float>(*variable.decay);
    sizes.push_back(size);
  }
  return sizes;
}

// Sets the variables that are not trained; the others come from parameter servers.
inline absl::Status RestoreUntrained(const Snapshot& snapshot, Session& session) {
  for (size_t i = 0; i < session.variables().size(); ++i) {
    if (session.variables()[i].trainable) continue;
    RETURN_IF_ERROR(session.variable(i).Write(snapshot.values[i]));
  }
  return absl::OkStatus();
}

// Of a model alone, without optimizer.
inline SnapshotShape ShapeOf(const Session& session, uint64_t seed, int64_t batch_size) {
  SnapshotShape shape{.seed = seed, .batch_size = batch_size};
  for (const VariableInfo& variable : session.variables()) {
    shape.variables.push_back({variable.name, variable.shape.dims(), variable.count,
                               variable.trainable});
  }
  return shape;
}

// Copies the session's variables, at step 0.
absl::StatusOr<Snapshot> InitialSnapshot(const Session& session);

// What the optimizer keeps about variables that are untrained and have these values.
std::vector<Snapshot::Tensors> InitialSlots(const Optimizer& optimizer,
                                            const std::vector<VariableInfo>& variables,
                                            const Snapshot::Tensors& values);

// Sets variables and slots, which the session's model has.
absl::Status Restore(const Snapshot& snapshot, Session& session);

// What checkpoints of this training hold.
absl::StatusOr<SnapshotShape> ShapeOf(const Session& session, const TrainerConfig& config);

}  // namespace taas

#endif  // TRAINER_TASK_TRAINING_TASK_H_
