// When a training is saved while it goes on, whoever holds the model, and what an error of the disk
// costs then: checkpoints, not the training. What is saved when there is nothing else to do is
// tried by try_on.h.
//
// Ownership: borrows clock and board. Threads: one at a time. Errors: those of a checkpoint
// directory that do not pass.
//
//   if (policy.Due(step)) {
//     policy.Begin(step);
//     const absl::Status saved = Save();
//     if (saved.ok()) policy.Saved(step, /*beside_training=*/true);
//     RETURN_IF_ERROR(policy.GoOn(saved, step));
//   }

#ifndef TRAINER_CUT_SAVE_POLICY_H_
#define TRAINER_CUT_SAVE_POLICY_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "operator/base/clock.h"
#include "trainer/status/status_board.h"

namespace taas {

class SavePolicy {
 public:
  struct Options {
    int64_t steps = 0;  // Between two saves; 0: by time alone.
    std::chrono::seconds seconds{0};
  };
  SavePolicy(const Clock& clock, StatusBoard& board, Options options)
      : clock_(clock), board_(board), options_(options) {}

  // Training begins behind `step`, of which there is a checkpoint or not.
  void Start(int64_t step, bool saved);
  // Whether a save is due at `step`: a multiple of Options::steps lies between the one begun last
  // and it, or enough time has passed since. It stays due until one is begun.
  bool Due(int64_t step) const;
  // The next after `step` that is due by steps; at most `last`.
  int64_t NextDue(int64_t step, int64_t last) const;
  // Whether one that failed is to be tried again now.
  bool DueAgain() const { return again_at_ && clock_.Now() >= *again_at_; }
  void Begin(int64_t step);
  // It is on the disk; `beside_training`, which then has no trouble any more.
  void Saved(int64_t step, bool beside_training);
  bool is_saved(int64_t step) const { return saved_step_ == step; }
  // After whatever was done to the checkpoint directory: OK for errors that pass, which are told,
  // and are over once `step`, the last to be saved, is.
  absl::Status GoOn(const absl::Status& status, int64_t step);

 private:
  const Clock& clock_;
  StatusBoard& board_;
  const Options options_;
  int64_t begun_step_ = 0;
  Clock::Time begun_at_{};
  int64_t saved_step_ = -1;
  std::optional<Clock::Time> again_at_;  // The disk failed.
};

}  // namespace taas

#endif  // TRAINER_CUT_SAVE_POLICY_H_
