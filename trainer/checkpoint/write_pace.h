// How fast a checkpoint is written beside a training: not as fast as possible, which takes the
// bandwidth of memory and disk from the steps, but in pieces with pauses, until somebody waits for
// the end.
//
// A pause is as long as what was written before it took, times a factor.
//
// Ownership: borrows nothing. Threads: Pause from the writer's, all else from any. Errors: none.
//
//   WritePace pace;               // No pauses.
//   pace.Limit();                 // The training begins to run beside.
//   pace.Pause();                 // The writer, after each piece.
//   pace.Hurry();                 // The training waits.

#ifndef TRAINER_CHECKPOINT_WRITE_PACE_H_
#define TRAINER_CHECKPOINT_WRITE_PACE_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace taas {

// Of what is written, and is on the disk, between two pauses: some milliseconds of a step that the
// writer disturbs, and far more than a pause costs by itself.
inline constexpr size_t kPieceBytes = size_t{4} << 20;
// The writer has a quarter of the time: a checkpoint takes four times as long, and a step that it
// disturbs the whole time a quarter of what it would be disturbed.
inline constexpr int kPauseFactor = 3;

class WritePace {
 public:
  void Limit();
  void Hurry();
  bool limited();
  // Returns at once where there is no limit; sooner than planned when Hurry is called.
  void Pause();

 private:
  std::mutex mutex_;
  std::condition_variable hurried_;
  bool limited_ = false;
  std::chrono::steady_clock::time_point went_on_{};
};

}  // namespace taas

#endif  // TRAINER_CHECKPOINT_WRITE_PACE_H_
