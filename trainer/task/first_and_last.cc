#include "trainer/task/first_and_last.h"

#include <optional>
#include <string>

#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas {

absl::StatusOr<bool> LoadLast(const Tries& tries, SnapshotStore& store, Snapshot* snapshot) {
  bool found = false;
  RETURN_IF_ERROR(TryOn(tries, ErrorAt::kSetUp, "read the last checkpoint", [&] {
    const absl::StatusOr<bool> loaded = store.Load(snapshot);
    found = loaded.ok() && *loaded;
    return loaded.status();
  }));
  if (found) {
    Log(LogLevel::kInfo, "resuming from checkpoint", {{"step", std::to_string(snapshot->step)}});
    tries.board.SetResumed(snapshot->step);
    const std::string remark = tries.board.snapshot().remark;
    if (!remark.empty()) Log(LogLevel::kWarning, remark);
  }
  return found;
}

absl::Status FinishTraining(const Tries& tries, TrainingTask& task, const Trained& trained,
                            const std::function<absl::Status()>& save,
                            const std::function<void(const Evaluation&)>& on_evaluation) {
  // No further loss judges it.
  std::vector<float> room;
  for (size_t i = 0; i < trained.values.size(); ++i) {
    ASSIGN_OR_RETURN(const std::span<const float> seen, OnHost(trained.values[i], &room));
    RETURN_IF_ERROR(
        CheckFinite("variable " + task.session().variables()[i].name, seen, trained.step));
  }
  tries.board.SetState(RunState::kSaving);
  RETURN_IF_ERROR(TryOn(tries, ErrorAt::kLastSave, "save the last checkpoint", save));
  RETURN_IF_ERROR(TryOn(tries, ErrorAt::kLastSave, "export the model",
                        [&] { return task.Export(trained.step, trained.evaluated); }));
  tries.board.SetState(RunState::kEvaluating);
  ASSIGN_OR_RETURN(std::optional<Evaluation> evaluation, task.Evaluate(trained.evaluated));
  if (!evaluation) return absl::OkStatus();
  evaluation->step = trained.step;
  tries.board.SetEvaluation(*evaluation);
  on_evaluation(*evaluation);
  return absl::OkStatus();
}

void SaveBeforeEnd(StatusBoard& board, const std::function<absl::Status()>& save) {
  board.SetState(RunState::kSaving, "about to end: saving a last checkpoint");
  const absl::Status saved = save();
  if (!saved.ok()) Log(LogLevel::kError, "no last checkpoint", {{"why", saved.ToString()}});
}

}  // namespace taas
