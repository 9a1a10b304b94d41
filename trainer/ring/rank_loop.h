// What every rank of an all-reduce does: epoch after epoch, step after step, until the job is done.
// What it does next is rank_core.h's to say.
//
// Ownership: borrows all. Threads: the caller's. Errors: InvalidArgument "Model diverged …"
// (permanent), on all ranks alike; those of the source, the task and the device. What ends an epoch
// is no error.
//
//   RankLoop loop(source, ring, task, update, {.max_steps = 1'000, .hooks = {…}});
//   RETURN_IF_ERROR(loop.Run());

#ifndef TRAINER_RING_RANK_LOOP_H_
#define TRAINER_RING_RANK_LOOP_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "operator/base/clock.h"
#include "absl/status/statusor.h"
#include "trainer/ring/epoch.h"
#include "trainer/ring/epoch_source.h"
#include "trainer/ring/rank_core.h"
#include "trainer/ring/ring.h"
#include "trainer/ring/share_meter.h"
#include "trainer/task/model_update.h"
#include "trainer/task/training_task.h"

namespace taas {

class RankLoop {
 public:
  struct Hooks {
    // Makes a model where this rank has none, and says where it stands then: the chief's is the
    // last checkpoint, else that of the seed; others have to be given one.
    std::function<absl::StatusOr<Standing>()> start = [] { return Standing(); };
    // The variables are about to change.
    std::function<void()> before_update = [] {};
    // An epoch has begun, and this rank stands there.
    std::function<absl::Status(const Standing& standing)> on_epoch =
        [](const Standing&) { return absl::OkStatus(); };
    // Of each step, with the mean of the losses.
    std::function<absl::Status(const Standing& standing, float loss)> after_step =
        [](const Standing&, float) { return absl::OkStatus(); };
    // What each step took, once it is told of.
    std::function<void(const StepTimes& times)> on_times = [](const StepTimes&) {};
    // The last step is made: what the chief does then ends the job.
    std::function<absl::Status(const Standing& standing)> at_end =
        [](const Standing&) { return absl::OkStatus(); };
  };
  struct Options {
    int64_t max_steps = 0;
    Hooks hooks;
  };
  RankLoop(EpochSource& source, Ring& ring, TrainingTask& task, ModelUpdate& update,
           Options options);

  absl::Status Run();

 private:
  absl::Status Begin();
  absl::Status AwaitEpoch();
  absl::Status Enter();
  absl::Status Step();
  absl::Status Outlast();

  EpochSource& source_;
  Ring& ring_;
  TrainingTask& task_;
  ModelUpdate& update_;
  const Options options_;
  const RealClock clock_;
  RankCore core_;
};

}  // namespace taas

#endif  // TRAINER_RING_RANK_LOOP_H_
