// A TrainingTask made from `spec.trainer`: a named model, data from files, evaluation on the test
// set.
//
// Ownership: owns graph, sessions and data, borrows the FileSystem. Threads: as TrainingTask.
// Errors: those of model and data, each naming the field or file.
//
//   ASSIGN_OR_RETURN(auto task, ModelTask::Make(CpuRuntime(), files, config));

#ifndef TRAINER_TASK_MODEL_TASK_H_
#define TRAINER_TASK_MODEL_TASK_H_

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/config/trainer_config.h"
#include "trainer/data/load_data.h"
#include "trainer/data/stream/train_input.h"
#include "trainer/graph/runtime.h"
#include "trainer/graph/session.h"
#include "trainer/graph/step_trace.h"
#include "trainer/task/gradient_work.h"
#include "trainer/task/pinned_batches.h"
#include "trainer/task/towers.h"
#include "trainer/task/training_task.h"

namespace taas {

struct Model;

class ModelTask : public TrainingTask {
 public:
  // The process in which it runs, as devices are named after it.
  struct Process {
    std::string job = "localhost";
    int task = 0;
    StepTrace* trace = nullptr;  // Null: no trace.
    std::function<void()> after_step = [] {};
    // For data that could not be read: tries again for as long as that may help (try_on.h).
    std::function<absl::Status(const std::function<absl::Status()>& read)> read_again =
        [](const auto& read) { return read(); };
    // Of who trains one copy of the model (SessionOptions).
    GradientMemory gradient_memory{};
    // False: of one who only evaluates. No gradients, no towers; the training set is let go, or not
    // even read where data.classes or the format says what the test set alone would not.
    bool trains = true;
  };

  static absl::StatusOr<std::unique_ptr<ModelTask>> Make(const Runtime& runtime, FileSystem& files,
                                                         const TrainerConfig& config,
                                                         const Process& process);
  ~ModelTask() override;
  // In a process by itself.
  static absl::StatusOr<std::unique_ptr<ModelTask>> Make(const Runtime& runtime, FileSystem& files,
                                                         const TrainerConfig& config) {
    return Make(runtime, files, config, Process());
  }

  // The model alone, of one batch, for those who want to look at it: without gradients unless
  // `training`. Reads the data, which decides on shapes.
  static absl::StatusOr<std::unique_ptr<Session>> CompileModel(const Runtime& runtime,
                                                               FileSystem& files,
                                                               const TrainerConfig& config,
                                                               const Process& process,
                                                               bool training);

  // Of tower 0, which is the only one but for strategy Towers.
  Session& session() override { return towers_->first(); }
  absl::Status FillBatch(int64_t batch) override;
  std::string data_identity() const override { return data_.identity; }
  std::vector<Session*> copies() override;
  absl::Status FillBatches(std::span<const int64_t> batches) override;
  int64_t batches_per_step() const override { return towers_->count(); }
  // Clipped, the mean of the towers'.
  absl::StatusOr<float> ComputeGradients(std::span<const int64_t> batches) override;
  bool makes_steps() const override { return towers_->copies() == towers_->count(); }
  absl::Status LaunchStep() override;
  absl::StatusOr<float> FinishStep() override;
  size_t steps_ahead() override { return towers_->steps_ahead(); }
  MemoryUses memory_uses() override;
  std::string FirstNonFinite() override;
  absl::StatusOr<std::optional<Evaluation>> Evaluate(
      const std::vector<TensorRef>& variables) override;
  // As spec.trainer.export says.
  absl::Status Export(int64_t step, const std::vector<TensorRef>& variables) override;

  // The share of the last training batches, of all towers, that was classified rightly, before
  // their update; nothing of a regression.
  std::optional<double> BatchAccuracy();

  // On which device each op of each tower lies (Session::Placements); variables which all share,
  // once.
  std::string Placements();

  const std::string& data_source() const { return data_.source; }
  int64_t examples() const { return examples_; }  // That are trained on, or only evaluated.

 private:
  struct Parts {
    Runtime runtime;
    FileSystem& files;
    std::string export_format;
    std::string export_dir;
    std::shared_ptr<const FeatureColumns> columns;  // For an export; null: none, or no columns.
    DataSets data;
    std::unique_ptr<const Model> model;
    std::unique_ptr<const Model> inference;  // The same, as it is evaluated,
    std::unique_ptr<const Model> served;     // and as others use it, who have numbers, no bytes.
    std::unique_ptr<Towers> towers;
    TrainInput::Options input;
    PinnedBatches batches;  // Of input.memory.
    std::vector<std::unique_ptr<GradientWork>> work;
    SessionOptions evaluation;
    Process process;
  };

  explicit ModelTask(Parts parts);
  // Of the last run.
  struct Outputs {
    std::span<const float> values;      // Logits; predictions of a regression.
    std::span<const int32_t> labels{};  // One per row of the logits.
    std::vector<float> room{};          // For what the host does not see.
  };
  absl::Status ReadOutputs(Session& session, Outputs* outputs) const;
  absl::Status FillTower(int tower, int64_t batch);
  // Without a copy, where batches are lent.
  absl::Status BindBatch(int64_t batch);
  struct Sums {
    double loss = 0;
    int64_t right = 0;
    int64_t rows = 0;  // Examples; tokens of a model of language.
  };
  // Of the first `count` of `examples` examples of a forward run.
  absl::Status AddExamples(Session& session, size_t examples, size_t count, Sums* sums) const;

  const Runtime runtime_;
  FileSystem& files_;
  const std::string export_format_, export_dir_;
  const std::shared_ptr<const FeatureColumns> columns_;
  DataSets data_;
  const std::unique_ptr<const Model> model_;
  const std::unique_ptr<const Model> inference_;
  const std::unique_ptr<const Model> served_;
  const PinnedBatches batches_;  // Where they are made ahead, if they are lent to the session.
  std::unique_ptr<Towers> towers_;
  std::unique_ptr<Session> evaluator_;  // Made when first needed.
  const int64_t examples_;
  const Process process_;
  std::optional<TrainInput> input_;  // Of data_; none if nothing is trained.
  std::vector<BatchPrefetch::Lent> lent_;  // To steps, the oldest first.
  // On the gradients of each session that holds the model; none if nothing is trained.
  std::vector<std::unique_ptr<GradientWork>> work_;
  const SessionOptions evaluation_;  // But for fetches; `batch` is that of the training.
};

}  // namespace taas

#endif  // TRAINER_TASK_MODEL_TASK_H_
