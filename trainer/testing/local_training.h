// Trainings in one process, as tests of the strategy have them: stopped, resumed, on far devices,
// with gradients that explode.
//
// Ownership: of a test. Threads: the test's. Errors: EXPECT of gtest, and Outcome::status.
//
//   const Outcome outcome = Train(MakeConfig(R"("optimizer": {…})"), /*stop_at=*/7);

#ifndef TRAINER_TESTING_LOCAL_TRAINING_H_
#define TRAINER_TESTING_LOCAL_TRAINING_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "trainer/cut/snapshot.h"
#include "trainer/graph/runtime.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/retry/try_on.h"
#include "trainer/status/status_board.h"
#include "trainer/task/model_task.h"

namespace taas {

using Tensors = std::vector<std::vector<float>>;

// Two hidden layers on generated clusters; `more` are further fields of spec.trainer.
TrainerConfig MakeConfig(const std::string& more);

Tensors Copies(const std::vector<TensorRef>& tensors);

// What a run ends with.
struct Outcome {
  absl::Status status;
  Tensors values;
  Tensors evaluated;
  Tensors histograms;  // Of the last step: what a summary is made of.
  std::vector<int64_t> trained;  // Batches.
  StatusBoard::Snapshot board;
};

class LocalTraining : public testing::Test {
 protected:
  LocalTraining();
  ~LocalTraining() override;

  std::string NewDir();
  // Null where `config` wants no checkpoints.
  std::unique_ptr<SnapshotStore> OpenStore(const TrainerConfig& config, Session& session) {
    return OpenStore(config, session, files_);
  }
  std::unique_ptr<SnapshotStore> OpenStore(const TrainerConfig& config, Session& session,
                                           FileSystem& files);
  // Stops after `stop_at` steps, if that is not 0.
  Outcome Train(const TrainerConfig& config, int64_t stop_at = 0);
  Outcome Train(const TrainerConfig& config, ModelTask& task, SnapshotStore* store,
                int64_t stop_at);

  std::function<Runtime()> runtime_ = CpuRuntime;
  PosixFileSystem files_;
  RealClock clock_;
  const int null_;
  int64_t explodes_at_ = 0;  // The step whose gradient has an infinity, from 1; 0: none.
  TryLimits limits_;
  // Told of each step; where looks_at_ says so, it may look at what the step leaves.
  std::function<void(int64_t step)> on_step_ = [](int64_t) {};
  std::function<bool(int64_t step)> looks_at_ = [](int64_t) { return false; };
};

}  // namespace taas

#endif  // TRAINER_TESTING_LOCAL_TRAINING_H_
