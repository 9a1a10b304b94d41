// Saves cuts of a model that is trained in one process while the training goes on.
//
// A cut is begun between two steps. A thread of its own copies the values to a second buffer during
// the next step's forward and backward run, which only read them, and then writes the buffer at a
// pace that leaves memory and disk to the steps (write_pace.h). Before the values change, Detach
// waits for what is not copied yet, and helps: that is all that a step can get longer by. The
// second buffer is made, and its memory touched, before the first cut needs it.
//
// Ownership: owns its thread and the second buffer; borrows all else; the model has its slots, and
// uses its own memory. Threads: one at a time; the store is this object's until it is gone.
// Errors: those of SnapshotStore, by Take.
//
//   BackgroundSaver saver(clock, store, session.model());
//   saver.Begin(step, committed);                       // between two steps
//   task.ComputeGradients(batches); saver.Detach();     // before the update
//   if (const auto result = saver.Take()) ...           // some steps later

#ifndef TRAINER_CUT_BACKGROUND_SAVER_H_
#define TRAINER_CUT_BACKGROUND_SAVER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "operator/base/clock.h"
#include "trainer/batches/committed_set.h"
#include "trainer/cut/snapshot.h"
#include "trainer/graph/model_state.h"

namespace taas {

class BackgroundSaver {
 public:
  struct Result {
    int64_t step = 0;
    absl::Status status;
    Clock::Duration took{};  // From the beginning to the end.
    Clock::Duration held{};  // That a step waited in Detach.
  };

  BackgroundSaver(const Clock& clock, SnapshotStore& store, const ModelState& model);
  // Waits for the save that runs.
  ~BackgroundSaver();
  BackgroundSaver(const BackgroundSaver&) = delete;
  BackgroundSaver& operator=(const BackgroundSaver&) = delete;

  // Whether a save runs.
  bool busy() const;
  // True if none runs, at once or within `patience`; one that took longer already is not waited
  // for.
  bool WaitFor(std::chrono::milliseconds patience) const;
  // Begins to save the values as they are; none runs.
  void Begin(int64_t step, const CommittedSet& committed);
  // Whether Detach is due.
  bool attached() const { return attached_; }
  // To be called before the variables or the optimizer's slots change.
  void Detach();
  // How a save has ended, once.
  std::optional<Result> Take();
  // The last try to say that this job lives, once: OK if it worked.
  absl::Status TakeKeepAlive();
  // Waits for the save that runs, however long it takes; it makes no pauses any more.
  void Wait() const;

 private:
  void Run();
  // Memory that is touched first in a copy costs more than the copy.
  void MakeBuffer();
  // The values that are trained, and each slot, in parts.
  void CopyParts();
  void CopyPart(size_t part);
  absl::Status Save();
  // A variable in an arena of the second buffer.
  std::span<const float> In(const std::vector<float>& arena, size_t variable) const;

  const Clock& clock_;
  SnapshotStore& store_;
  const ModelState& model_;

  // The copy under way: set by Begin, worked on by both threads, which claim parts in turn.
  std::vector<std::vector<float>> arenas_;  // Laid out as the model's: values, slots.
  CommittedSet committed_;
  int64_t step_ = 0;
  absl::Status other_values_;  // How the copy of what is not trained has ended.
  std::vector<absl::Status> parts_;  // And of each part of the rest.
  std::atomic<size_t> next_ = 0;
  std::atomic<size_t> copied_ = 0;
  bool attached_ = false;  // Of the training thread: Detach is due.
  Clock::Duration held_{};

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool made_ = false;  // The buffer is.
  bool busy_ = false;
  bool closing_ = false;
  Clock::Time begun_{};
  std::optional<Result> result_;
  absl::Status keep_alive_;
  std::thread thread_;
};

}  // namespace taas

#endif  // TRAINER_CUT_BACKGROUND_SAVER_H_
