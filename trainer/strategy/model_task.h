// A TrainingTask made from `spec.trainer`: a named model, data from files, evaluation on the test
// set.
//
// Ownership: owns graph, sessions and data, borrows the FileSystem. Threads: as TrainingTask.
// Errors: those of model and data, each naming the field or file.
//
//   ASSIGN_OR_RETURN(auto task, ModelTask::Make(files, config));

#ifndef TRAINER_STRATEGY_MODEL_TASK_H_
#define TRAINER_STRATEGY_MODEL_TASK_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/config/trainer_config.h"
#include "trainer/data/batch_plan.h"
#include "trainer/data/load_data.h"
#include "trainer/model/model.h"
#include "trainer/optimizer/gradient_clip.h"
#include "trainer/strategy/towers.h"
#include "trainer/strategy/training_task.h"

namespace taas {

class ModelTask : public TrainingTask {
 public:
  static absl::StatusOr<std::unique_ptr<ModelTask>> Make(FileSystem& files,
                                                         const TrainerConfig& config);

  // Of tower 0, which is the only one but for strategy Towers.
  Session& session() override { return towers_->first(); }
  absl::Status FillBatch(int64_t batch) override;
  int64_t batches_per_step() const override { return towers_->count(); }
  // Clipped, the mean of the towers'.
  absl::StatusOr<float> ComputeGradients(std::span<const int64_t> batches) override;
  absl::StatusOr<std::optional<Evaluation>> Evaluate(
      const std::vector<std::span<float>>& variables) override;
  // As spec.trainer.export says.
  absl::Status Export(int64_t step, const std::vector<std::span<float>>& variables) override;

  // The share of the last training batches, of all towers, that was classified rightly, before
  // their update; nothing of a regression.
  std::optional<double> BatchAccuracy();

  const Graph& graph() const { return model_.graph; }
  const std::string& data_source() const { return data_.source; }
  int64_t examples() const { return data_.train.examples(); }

 private:
  // What is done to gradients between their computation and their use.
  struct GradientWork {
    GradientClip clip;
    float loss_scale = 1;  // Of the sessions; divided out first.
  };

  ModelTask(FileSystem& files, const TrainerConfig& config, DataSets data, Model model,
            std::unique_ptr<Towers> towers, BatchPlan plan, const GradientWork& work);
  void FinishGradients();
  void FillInputs(const Dataset& set, std::span<const int64_t> indices, Session& session) const;
  void FillTower(int tower, int64_t batch);
  // Of the features of training batch `batch`, which consists of `indices`.
  void AugmentBatch(int64_t batch, std::span<const int64_t> indices, Session& session) const;
  // Sums over the first `count` rows of a forward run.
  void AddRows(Session& session, const Dataset& set, std::span<const int64_t> indices,
               size_t count, double* loss, int64_t* right) const;

  FileSystem& files_;
  const std::string export_format_, export_dir_;
  DataSets data_;
  Model model_;
  std::unique_ptr<Towers> towers_;
  std::unique_ptr<Session> evaluator_;  // Made when first needed.
  BatchPlan plan_;
  const GradientWork work_;
  const uint64_t seed_;
  std::vector<std::vector<int64_t>> indices_;  // Per tower.
};

}  // namespace taas

#endif  // TRAINER_STRATEGY_MODEL_TASK_H_
