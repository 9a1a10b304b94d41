// How fast a checkpoint is written beside a training: not as fast as possible, which takes the
// memory's bandwidth from the steps, but in pieces with pauses, until somebody waits for the end.
//
// A pause is as long as what was written before it took of a processor, times a factor: where the
// disk is what takes the time, nearly none.
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

// Of what is written between two pauses: some milliseconds of a step that the writer disturbs, and
// far more than a pause costs by itself.
inline constexpr size_t kPieceBytes = size_t{4} << 20;
// A pause for each unit of processor time: the writer has an eighth of what it could take.
inline constexpr int kPauseFactor = 7;

class WritePace {
 public:
  void Limit();
  void Hurry();
  // Returns at once where there is no limit; sooner than planned when Hurry is called.
  void Pause();

 private:
  std::mutex mutex_;
  std::condition_variable hurried_;
  bool limited_ = false;
  std::chrono::nanoseconds used_{};  // Of the writer's processor time when it last went on.
};

}  // namespace taas

#endif  // TRAINER_CHECKPOINT_WRITE_PACE_H_
