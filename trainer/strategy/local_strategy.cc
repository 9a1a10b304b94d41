#include "trainer/strategy/local_strategy.h"

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/batches/untrained_batches.h"
#include "trainer/cut/background_saver.h"
#include "trainer/cut/save_policy.h"
#include "trainer/cut/snapshot.h"
#include "trainer/graph/memory_uses.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/retry/try_on.h"
#include "trainer/task/first_and_last.h"
#include "trainer/task/model_update.h"

namespace taas {
namespace {

// A save that is quicker than this may be waited for: a step does not get longer by more.
constexpr std::chrono::milliseconds kWaitForSave{50};

std::string Milliseconds(Clock::Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

class LocalTraining {
 public:
  LocalTraining(const TrainerConfig& config, TrainingTask& task, SnapshotStore* store,
                StepLog& log, const Tries& tries)
      : clock_(tries.clock),
        config_(config),
        task_(task),
        store_(store),
        board_(tries.board),
        log_(log),
        tries_(tries),
        saves_(clock_, board_,
               {.steps = config.checkpoint_steps,
                .seconds = std::chrono::seconds(config.checkpoint_seconds)}) {}

  absl::Status Run() {
    RETURN_IF_ERROR(Start());
    while (step_ < config_.max_steps) {
      if (tries_.stop.stopped()) {
        RETURN_IF_ERROR(Settle(0));
        SaveBeforeEnd(board_, [this] { return SaveNow(); });
        return absl::CancelledError("stopped");
      }
      const absl::Status stepped = Step();
      if (absl::IsCancelled(stepped) && !torn_) continue;  // Stopped while it waited for its data.
      if (ExitCodeOf(stepped) == kExitRestart) {
        SaveBeforeEnd(board_, [this] { return SaveNow(); });
      }
      RETURN_IF_ERROR(stepped);
      RETURN_IF_ERROR(SaveBesideTraining());
    }
    RETURN_IF_ERROR(FinishTraining(
        tries_, task_, {step_, VariablesOf(task_.session()), updates_[0]->Evaluated()},
        [this] { return SaveNow(); },
        [this](const Evaluation& evaluation) { log_.OnEvaluation(evaluation); }));
    board_.SetState(RunState::kDone);
    return absl::OkStatus();
  }

 private:
  absl::Status Start() {
    ASSIGN_OR_RETURN(optimizer_, Optimizer::Parse(config_.optimizer, task_.batches_per_step()));
    for (Session* const copy : task_.copies()) {
      RETURN_IF_ERROR(copy->InitializeVariables(config_.seed));
      ASSIGN_OR_RETURN(auto update, ModelUpdate::Make(*optimizer_, *copy));
      updates_.push_back(std::move(update));
    }
    bool found = false;
    if (store_ != nullptr) {
      Snapshot snapshot;
      ASSIGN_OR_RETURN(found, LoadLast(tries_, *store_, &snapshot));
      if (found) {
        for (Session* const copy : task_.copies()) RETURN_IF_ERROR(Restore(snapshot, *copy));
        step_ = snapshot.step;
        batches_ = UntrainedBatches(snapshot.committed);
      }
      saver_.emplace(clock_, *store_, task_.session().model());
    }
    saves_.Start(step_, found);
    optimizer_->StartAfter(step_);
    // The update has no workspace.
    LogUses(task_.memory_uses(), task_.session().model().device());
    board_.SetStep(step_);
    board_.SetState(RunState::kTraining);
    log_.Start(step_);
    return absl::OkStatus();
  }

  // Begins the next step, and ends those that need not run beside it.
  absl::Status Step() {
    // While a cut is copied, gradients can be computed.
    if (!task_.makes_steps() || (saver_ && saver_->attached())) return MakeStepInParts();
    RETURN_IF_ERROR(LaunchStep());
    return Settle(StepsAhead());
  }

  absl::Status LaunchStep() {
    const auto count = static_cast<size_t>(task_.batches_per_step());
    for (size_t i = 0; i < count; ++i) RETURN_IF_ERROR(batches_.Next().status());
    const std::span<const int64_t> batches = std::span(batches_.taken()).last(count);
    if (absl::Status filled = task_.FillBatches(batches); !filled.ok()) {
      batches_.Return(count);
      RETURN_IF_ERROR(Settle(0));
      return filled;
    }
    ++under_way_;
    for (const auto& update : updates_) update->Prepare(last_step());
    torn_ = true;
    absl::Status launched = task_.LaunchStep();
    if (!launched.ok()) Drop();
    return launched;
  }

  // The last that was begun.
  int64_t last_step() const { return step_ + under_way_; }

  // How many steps may be under way while the next is begun: none, if somebody looks at what the
  // last leaves in the model.
  int64_t StepsAhead() const {
    const auto ahead = static_cast<int64_t>(task_.steps_ahead());
    if (ahead == 0 || last_step() >= config_.max_steps || log_.LooksAt(last_step()) ||
        SaveIsNext() || tries_.stop.stopped()) {
      return 0;
    }
    return ahead;
  }

  // Ends steps until so many are under way.
  absl::Status Settle(int64_t under_way) {
    while (under_way_ > under_way) RETURN_IF_ERROR(FinishStep());
    return absl::OkStatus();
  }

  absl::Status FinishStep() {
    const absl::StatusOr<float> loss = task_.FinishStep();
    if (!loss.ok()) {
      Drop();
      return loss.status();
    }
    // Of a step that changed nothing, nor did those behind it, which are gone.
    torn_ = torn_ && std::isfinite(*loss) && under_way_ > 1;
    if (absl::Status finite = CheckLoss(*loss, {step_ + 1, batches_.taken()[0]}, task_);
        !finite.ok()) {
      Drop();
      return finite;
    }
    --under_way_;
    Count(*loss);
    return absl::OkStatus();
  }

  // After one has failed none is under way.
  void Drop() {
    under_way_ = 0;
    batches_.Return(batches_.taken().size());
  }

  void Count(float loss) {
    ++step_;
    batches_.Commit(static_cast<size_t>(task_.batches_per_step()));
    const double rate = log_.OnStep(step_, loss);
    board_.SetProgress({.step = step_, .loss = loss, .examples_per_second = rate});
  }

  absl::Status MakeStepInParts() {
    for (int64_t i = 0; i < task_.batches_per_step(); ++i) {
      RETURN_IF_ERROR(batches_.Next().status());
    }
    for (const auto& update : updates_) update->Prepare(step_ + 1);
    const absl::StatusOr<float> loss = ComputeAndApply();
    if (!loss.ok()) {
      Drop();
      return loss.status();
    }
    Count(*loss);
    return absl::OkStatus();
  }

  absl::StatusOr<float> ComputeAndApply() {
    ASSIGN_OR_RETURN(const float loss, task_.ComputeGradients(batches_.taken()));
    RETURN_IF_ERROR(CheckLoss(loss, {step_ + 1, batches_.taken()[0]}, task_));
    if (saver_) saver_->Detach();
    torn_ = true;
    for (const auto& update : updates_) RETURN_IF_ERROR(update->Apply());
    torn_ = false;
    return loss;
  }

  // Whether a save is to begin now, of the last step.
  bool SaveIsNext() const {
    if (!saver_) return false;
    if (!saves_.Due(last_step())) return saves_.DueAgain() && !saver_->busy();
    return took_ <= kWaitForSave || !saver_->busy();
  }

  // A save that is due while the one before still runs is begun when that has ended. If saves are
  // quick it is waited for, so that checkpoints are of the steps that were asked for.
  absl::Status SaveBesideTraining() {
    if (!saver_) return absl::OkStatus();
    RETURN_IF_ERROR(TakeResult());
    if (under_way_ > 0 || !SaveIsNext()) return absl::OkStatus();
    if (saver_->busy()) {
      if (!saver_->WaitFor(kWaitForSave)) return absl::OkStatus();
      RETURN_IF_ERROR(TakeResult());
    }
    saves_.Begin(step_);
    if (!saves_.is_saved(step_)) saver_->Begin(step_, batches_.committed());
    return absl::OkStatus();
  }

  absl::Status TakeResult() {
    RETURN_IF_ERROR(saves_.GoOn(saver_->TakeKeepAlive(), step_));
    const std::optional<BackgroundSaver::Result> result = saver_->Take();
    if (!result) return absl::OkStatus();
    took_ = result->took;
    if (!result->status.ok()) return saves_.GoOn(result->status, step_);
    saves_.Saved(result->step, /*beside_training=*/true);
    Log(LogLevel::kInfo, "checkpoint saved",
        {{"step", std::to_string(result->step)},
         {"ms", Milliseconds(result->took)},
         {"stepHeldMs", Milliseconds(result->held)}});
    return absl::OkStatus();
  }

  // With nothing else to do meanwhile.
  absl::Status SaveNow() {
    if (!saver_) return absl::OkStatus();
    if (torn_) return absl::InternalError("a step failed: the variables may be of two steps");
    saver_->Wait();
    // How an earlier one has ended does not matter any more.
    if (const absl::Status before = TakeResult(); !before.ok()) return before;
    if (saves_.is_saved(step_)) return absl::OkStatus();
    saver_->Begin(step_, batches_.committed());
    saver_->Detach();
    saver_->Wait();
    const std::optional<BackgroundSaver::Result> result = saver_->Take();
    RETURN_IF_ERROR(result->status);
    saves_.Saved(step_, /*beside_training=*/false);
    Log(LogLevel::kInfo, "checkpoint saved", {{"step", std::to_string(step_)}});
    return absl::OkStatus();
  }

  const Clock& clock_;
  const TrainerConfig& config_;
  TrainingTask& task_;
  SnapshotStore* const store_;
  StatusBoard& board_;
  StepLog& log_;
  const Tries& tries_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<std::unique_ptr<ModelUpdate>> updates_;  // Of each that holds the model.
  int64_t step_ = 0;       // That is made, and
  int64_t under_way_ = 0;  // so many behind it that may be.
  bool torn_ = false;  // Some variables may be of the step that failed, and some of the one before.
  UntrainedBatches batches_;
  SavePolicy saves_;
  Clock::Duration took_{};  // The last save.
  std::optional<BackgroundSaver> saver_;
};

}  // namespace

absl::Status RunLocal(const TrainerConfig& config, TrainingTask& task, SnapshotStore* store,
                      StepLog& log, const Tries& tries) {
  return LocalTraining(config, task, store, log, tries).Run();
}

}  // namespace taas
