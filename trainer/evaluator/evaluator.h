// Follows a directory of checkpoints while a job trains, and evaluates what appears there.
//
// It needs nothing of the job but the directory: no address of a peer, no leave to come or go. A
// directory that is not there yet, a checkpoint that is half written, damaged or retired in this
// very moment are all the same to it: it looks again. The end is the checkpoint of the last step.
//
// Ownership: borrows all. Threads: the caller's. Errors: FailedPrecondition for checkpoints of
// another model; Cancelled (told to stop); those of the evaluation.
//
//   Evaluator evaluator(clock, files, {.dir = "/out", .max_steps = 2000}, board, task, show);
//   RETURN_IF_ERROR(evaluator.Run(stop));

#ifndef TRAINER_EVALUATOR_EVALUATOR_H_
#define TRAINER_EVALUATOR_EVALUATOR_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "trainer/checkpoint/bundle_reader.h"
#include "trainer/retry/stop_flag.h"
#include "trainer/status/status_board.h"
#include "trainer/task/training_task.h"

namespace taas {

class Evaluator {
 public:
  struct Options {
    std::string dir;
    int64_t max_steps = 0;
    // Between two evaluations; that of the last step waits for nothing.
    Clock::Duration every = std::chrono::seconds(10);
    // Takes the averages of the variables instead of their values.
    bool moving_average = false;
  };
  using Show = std::function<void(const Evaluation&)>;
  Evaluator(const Clock& clock, FileSystem& files, Options options, StatusBoard& board,
            TrainingTask& task, Show show);

  // Until the checkpoint of the last step is evaluated.
  absl::Status Run(const StopFlag& stop);

 private:
  struct Found {
    int64_t step = 0;
    std::vector<std::vector<float>> values;
  };
  // The newest checkpoint that can be read, of a step above the last; notes why there is none.
  absl::StatusOr<std::optional<Found>> Look();
  absl::StatusOr<Found> Load(int64_t step);
  absl::Status CheckModel(const BundleReader& reader) const;
  std::string NameOf(size_t variable) const;
  absl::Status Evaluate(Found found);
  void ShowWaiting();

  const Clock& clock_;
  FileSystem& files_;
  const Options options_;
  StatusBoard& board_;
  TrainingTask& task_;
  const Show show_;
  int64_t evaluated_ = -1;  // The last step.
  std::optional<Clock::Time> evaluated_at_;
  std::string trouble_;  // Of the last look.
  std::string logged_;
  std::optional<Clock::Time> waits_since_;  // For the first checkpoint.
  bool told_first_ = false;                 // That it waits for that.
  bool told_no_data_ = false;
};

}  // namespace taas

#endif  // TRAINER_EVALUATOR_EVALUATOR_H_
