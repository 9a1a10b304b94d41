#include "trainer/strategy/local_strategy.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/strategy/background_saver.h"
#include "trainer/strategy/disk_errors.h"
#include "trainer/strategy/model_update.h"
#include "trainer/strategy/replica_loop.h"
#include "trainer/strategy/snapshot.h"
#include "trainer/strategy/try_on.h"

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
        tries_(tries) {}

  absl::Status Run() {
    RETURN_IF_ERROR(Start());
    while (step_ < config_.max_steps) {
      if (tries_.stop.stopped()) {
        SaveBeforeEnd();
        return absl::CancelledError("stopped");
      }
      const absl::Status stepped = Step();
      if (absl::IsCancelled(stepped)) continue;  // Stopped while it waited for its data.
      if (ExitCodeOf(stepped) == kExitRestart) SaveBeforeEnd();
      RETURN_IF_ERROR(stepped);
      RETURN_IF_ERROR(SaveBesideTraining());
    }
    RETURN_IF_ERROR(CheckTrained(task_.session(), VariablesOf(task_.session()), step_));
    board_.SetState(RunState::kSaving);
    RETURN_IF_ERROR(TryOn(tries_, ErrorAt::kLastSave, "save the last checkpoint",
                          [this] { return SaveNow(); }));
    const std::vector<TensorRef> trained = update_->Evaluated();
    RETURN_IF_ERROR(TryOn(tries_, ErrorAt::kLastSave, "export the model",
                          [&] { return task_.Export(step_, trained); }));
    board_.SetState(RunState::kEvaluating);
    ASSIGN_OR_RETURN(std::optional<Evaluation> evaluation, task_.Evaluate(trained));
    if (evaluation) {
      evaluation->step = step_;
      board_.SetEvaluation(*evaluation);
      log_.OnEvaluation(*evaluation);
    }
    board_.SetState(RunState::kDone);
    return absl::OkStatus();
  }

 private:
  absl::Status Start() {
    ASSIGN_OR_RETURN(optimizer_, Optimizer::Parse(config_.optimizer, task_.batches_per_step()));
    Session& session = task_.session();
    RETURN_IF_ERROR(session.InitializeVariables(config_.seed));
    ASSIGN_OR_RETURN(update_, ModelUpdate::Make(*optimizer_, session));
    saved_at_ = clock_.Now();
    if (store_ != nullptr) {
      Snapshot snapshot;
      bool found = false;
      RETURN_IF_ERROR(TryOn(tries_, ErrorAt::kSetUp, "read the last checkpoint", [&] {
        const absl::StatusOr<bool> loaded = store_->Load(&snapshot);
        found = loaded.ok() && *loaded;
        return loaded.status();
      }));
      if (found) {
        RETURN_IF_ERROR(Restore(snapshot, session));
        step_ = saved_step_ = snapshot.step;
        committed_ = snapshot.committed;
        Log(LogLevel::kInfo, "resuming from checkpoint", {{"step", std::to_string(step_)}});
        board_.SetResumed(step_);
      }
      saver_.emplace(clock_, *store_, session.model());
    }
    optimizer_->StartAfter(step_);
    board_.SetStep(step_);
    board_.SetState(RunState::kTraining);
    log_.Start(step_);
    return absl::OkStatus();
  }

  // The lowest that are not part of the model. A checkpoint that several replicas made in the
  // middle of a job has gaps.
  void TakeBatches() {
    batches_.clear();
    for (int64_t batch = committed_.watermark();
         std::ssize(batches_) < task_.batches_per_step(); ++batch) {
      if (!committed_.Contains(batch)) batches_.push_back(batch);
    }
  }

  absl::Status Step() {
    TakeBatches();
    update_->Prepare(step_ + 1);
    // While a cut is copied, gradients can be computed.
    const bool whole = task_.makes_steps() && !(saver_ && saver_->attached());
    ASSIGN_OR_RETURN(const float loss,
                     whole ? task_.MakeStep(batches_) : task_.ComputeGradients(batches_));
    RETURN_IF_ERROR(CheckLoss(loss, {step_ + 1, batches_[0]}, task_));
    if (!whole) {
      RETURN_IF_ERROR(Update());
    }
    ++step_;
    for (const int64_t batch : batches_) committed_.Add(batch);
    const double rate = log_.OnStep(step_, loss);
    board_.SetProgress({.step = step_, .loss = loss, .examples_per_second = rate});
    return absl::OkStatus();
  }

  absl::Status Update() {
    if (saver_) saver_->Detach();
    const absl::Status made = update_->Apply();
    if (made.ok()) return made;
    // Such that nothing is saved: some variables may be of this step and some of the one before.
    return absl::InternalError("make step " + std::to_string(step_ + 1) + ": " + made.ToString());
  }

  // By steps or by time, or because the disk had failed.
  bool SaveDue() const {
    const Clock::Time now = clock_.Now();
    return (config_.checkpoint_steps > 0 && step_ % config_.checkpoint_steps == 0) ||
           now - saved_at_ >= std::chrono::seconds(config_.checkpoint_seconds) ||
           (save_again_at_ && now >= *save_again_at_ && !saver_->busy());
  }

  // After what was done to the checkpoint directory.
  absl::Status GoOn(const absl::Status& status) {
    return TrainOnWithout(status, saved_step_ == step_, clock_.Now(), board_, &save_again_at_);
  }

  // A save that is due while the one before still runs is begun when that has ended. If saves are
  // quick it is waited for, so that checkpoints are of the steps that were asked for.
  absl::Status SaveBesideTraining() {
    if (!saver_) return absl::OkStatus();
    RETURN_IF_ERROR(TakeResult());
    due_ = due_ || SaveDue();
    if (!due_) return absl::OkStatus();
    if (saver_->busy()) {
      if (took_ > kWaitForSave || !saver_->WaitFor(kWaitForSave)) return absl::OkStatus();
      RETURN_IF_ERROR(TakeResult());
    }
    due_ = false;
    saved_at_ = clock_.Now();
    if (saved_step_ != step_) saver_->Begin(step_, committed_);
    return absl::OkStatus();
  }

  absl::Status TakeResult() {
    RETURN_IF_ERROR(GoOn(saver_->TakeKeepAlive()));
    const std::optional<BackgroundSaver::Result> result = saver_->Take();
    if (!result) return absl::OkStatus();
    took_ = result->took;
    if (!result->status.ok()) return GoOn(result->status);
    saved_step_ = result->step;
    if (std::exchange(save_again_at_, std::nullopt)) board_.SetState(RunState::kTraining);
    Log(LogLevel::kInfo, "checkpoint saved",
        {{"step", std::to_string(saved_step_)},
         {"ms", Milliseconds(result->took)},
         {"stepHeldMs", Milliseconds(result->held)}});
    return absl::OkStatus();
  }

  // What was trained so far is kept, if that can be.
  void SaveBeforeEnd() {
    board_.SetState(RunState::kSaving, "about to end: saving a last checkpoint");
    const absl::Status saved = SaveNow();
    if (!saved.ok()) Log(LogLevel::kError, "no last checkpoint", {{"why", saved.ToString()}});
  }

  // With nothing else to do meanwhile.
  absl::Status SaveNow() {
    if (!saver_) return absl::OkStatus();
    saver_->Wait();
    // How an earlier one has ended does not matter any more.
    if (const absl::Status before = TakeResult(); !before.ok()) return before;
    if (saved_step_ == step_) return absl::OkStatus();
    saver_->Begin(step_, committed_);
    saver_->Detach();
    saver_->Wait();
    const std::optional<BackgroundSaver::Result> result = saver_->Take();
    RETURN_IF_ERROR(result->status);
    saved_step_ = step_;
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
  std::unique_ptr<ModelUpdate> update_;
  int64_t step_ = 0;
  ps::CommittedSet committed_;
  std::vector<int64_t> batches_;  // Of the step.
  int64_t saved_step_ = -1;
  Clock::Time saved_at_{};
  std::optional<Clock::Time> save_again_at_;
  bool due_ = false;                   // A save is.
  Clock::Duration took_{};  // The last save.
  std::optional<BackgroundSaver> saver_;
};

}  // namespace

absl::Status RunLocal(const TrainerConfig& config, TrainingTask& task, SnapshotStore* store,
                      StepLog& log, const Tries& tries) {
  return LocalTraining(config, task, store, log, tries).Run();
}

}  // namespace taas
