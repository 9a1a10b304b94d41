// The checkpoints of a training whose model one process holds: begun when they are due, written
// beside the steps, tried again where the disk has trouble.
//
// A save that is due while the one before still runs is begun when that has ended. If saves are
// quick it is waited for, so that checkpoints are of the steps that were asked for.
//
// Ownership: owns the saver's thread; borrows all else. Without a store nothing is saved. Threads:
// one at a time. Errors: those of a checkpoint directory that do not pass.
//
//   TrainingSaves saves(clock, board, {.steps = 100}, store);
//   saves.Start(step, found, session.model());
//   saves.Detach();                                  // before an update
//   RETURN_IF_ERROR(saves.Beside(step, committed));  // after it

#ifndef TRAINER_CUT_TRAINING_SAVES_H_
#define TRAINER_CUT_TRAINING_SAVES_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "operator/base/clock.h"
#include "trainer/batches/committed_set.h"
#include "trainer/cut/background_saver.h"
#include "trainer/cut/save_policy.h"
#include "trainer/cut/snapshot.h"
#include "trainer/graph/model_state.h"
#include "trainer/status/status_board.h"

namespace taas {

class TrainingSaves {
 public:
  TrainingSaves(const Clock& clock, StatusBoard& board, SavePolicy::Options options,
                SnapshotStore* store)
      : clock_(clock), store_(store), policy_(clock, board, options) {}

  // Training begins behind `step`, of which there is a checkpoint or not; the model has its slots.
  void Start(int64_t step, bool saved, const ModelState& model);
  // Whether a cut is being copied: then Detach is due before values change.
  bool attached() const { return saver_ && saver_->attached(); }
  void Detach();
  // Whether Beside would begin a save of this step now, as far as can be told before it.
  bool IsNext(int64_t step) const;
  // Between two steps: takes in how a save has ended, and begins one that is due.
  absl::Status Beside(int64_t step, const CommittedSet& committed);
  // With nothing else to do meanwhile.
  absl::Status Now(int64_t step, const CommittedSet& committed);

 private:
  absl::Status TakeResult(int64_t step);

  const Clock& clock_;
  SnapshotStore* const store_;
  SavePolicy policy_;
  Clock::Duration took_{};  // The last save.
  std::optional<BackgroundSaver> saver_;
};

}  // namespace taas

#endif  // TRAINER_CUT_TRAINING_SAVES_H_
