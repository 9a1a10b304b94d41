// A TrainingTask made from `spec.trainer`: a named model, data from files, evaluation on the test
// set.
//
// Ownership: owns graph, sessions and data. Threads: as TrainingTask. Errors: those of model and
// data, each naming the field or file.
//
//   ASSIGN_OR_RETURN(auto task, ModelTask::Make(files, config));

#ifndef TRAINER_STRATEGY_MODEL_TASK_H_
#define TRAINER_STRATEGY_MODEL_TASK_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/config/trainer_config.h"
#include "trainer/data/batch_plan.h"
#include "trainer/data/load_data.h"
#include "trainer/model/model.h"
#include "trainer/strategy/training_task.h"

namespace taas {

class ModelTask : public TrainingTask {
 public:
  static absl::StatusOr<std::unique_ptr<ModelTask>> Make(FileSystem& files,
                                                         const TrainerConfig& config);

  Session& session() override { return *session_; }
  absl::Status FillBatch(int64_t batch) override;
  absl::StatusOr<std::optional<Evaluation>> Evaluate(
      const std::vector<std::span<float>>& variables) override;

  const std::string& data_source() const { return data_.source; }
  int64_t examples() const { return data_.train.examples(); }

 private:
  ModelTask(DataSets data, Model model, std::unique_ptr<Session> session, BatchPlan plan);
  void FillInputs(const Dataset& set, std::span<const int64_t> indices, Session& session);
  // Sums over the first `count` rows of a forward run.
  void AddRows(Session& session, const Dataset& set, std::span<const int64_t> indices,
               size_t count, double* loss, int64_t* right) const;

  DataSets data_;
  Model model_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Session> evaluator_;  // Made when first needed.
  BatchPlan plan_;
  std::vector<int64_t> indices_;
};

}  // namespace taas

#endif  // TRAINER_STRATEGY_MODEL_TASK_H_
