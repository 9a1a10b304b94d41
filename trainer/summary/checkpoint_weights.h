// How the weights of each checkpoint are spread: event files for TensorBoard, with one event per
// checkpoint of a directory and one histogram per variable in it.
//
// Beside the training, from what stands on the disk. A process that starts again goes on where the
// files end; what is retired later stays in them.
//
// Ownership: owns its thread; borrows clock and file system. Threads: Look and Follow from one.
// Errors: a checkpoint that cannot be read, or an event that cannot be written, is tried again, and
// logged once; a directory that is not there yet has no checkpoints.
//
//   CheckpointWeights weights(clock, files, {.checkpoints = "/out", .events = "/logs/weights"});
//   weights.Follow();

#ifndef TRAINER_SUMMARY_CHECKPOINT_WEIGHTS_H_
#define TRAINER_SUMMARY_CHECKPOINT_WEIGHTS_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "trainer/summary/event_file.h"

namespace taas {

class CheckpointWeights {
 public:
  struct Options {
    std::string checkpoints;  // Directories.
    std::string events;
    std::string job{};  // As Recorder::Options has it.
  };

  CheckpointWeights(const Clock& clock, FileSystem& files, Options options);
  // Looks once more, so that the last checkpoint is among them.
  ~CheckpointWeights();

  // Takes the checkpoints that have come.
  void Look();
  // Looks every two seconds, on a thread of its own.
  void Follow();

 private:
  void Run();
  absl::Status TakeNew(const std::vector<int64_t>& steps);
  absl::Status ReadBack();
  absl::Status Take(int64_t step);
  absl::StatusOr<summary::Summary> SummaryOf(int64_t step) const;

  const Clock& clock_;
  FileSystem& files_;
  const Options options_;

  std::set<int64_t> taken_;
  std::unique_ptr<EventWriter> writer_;  // Null before the first event, and after a failure.
  bool read_back_ = false;
  bool told_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace taas

#endif  // TRAINER_SUMMARY_CHECKPOINT_WEIGHTS_H_
