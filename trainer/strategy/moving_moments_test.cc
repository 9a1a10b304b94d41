// The moving moments of batch normalization where many replicas train: they are those of one
// process that has trained on the same batches.

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/strategy/local_strategy.h"
#include "trainer/task/model_task.h"
#include "trainer/testing/job_in_threads.h"
#include "trainer/testing/task_around.h"

namespace taas {
namespace {

constexpr int kReplicas = 16;  // The chief is one.
constexpr int64_t kSteps = 320;

// Remembers what was evaluated.
class WatchedTask : public TaskAround {
 public:
  using TaskAround::TaskAround;
  absl::StatusOr<std::optional<Evaluation>> Evaluate(
      const std::vector<TensorRef>& variables) override {
    for (size_t i = 0; i < variables.size(); ++i) {
      if (!session().variables()[i].decay) continue;
      const std::span<float> values = variables[i].host();
      moments.insert(moments.end(), values.begin(), values.end());
    }
    return task_.Evaluate(variables);
  }

  std::vector<float> moments;
};

struct Trained {
  double loss = 0;
  std::vector<float> moments;
};

class MovingMomentsTest : public testing::Test {
 protected:
  // Learns so slowly that nothing but the moments decides on the evaluation: how old the gradients
  // of many replicas are is the machine's.
  static TrainerConfig Config(const std::string& strategy, const std::string& optimizer = "sgd") {
    const auto config = ParseTrainerConfig(R"({"seed": 3, "batchSize": 16, "maxSteps": )" +
                                           std::to_string(kSteps) + R"(,
        "model": {"name": "layers", "layers": [
          {"type": "dense", "units": 24, "activation": "relu"},
          {"type": "batchNorm", "decay": 0.99}]},
        "optimizer": {"name": ")" + optimizer + R"(", "learningRate": 1e-6},
        "data": {"format": "generated", "generated":
          {"examples": 2000, "testExamples": 500, "features": 20, "classes": 4}},
        "strategy": )" + strategy + "}");
    EXPECT_THAT(config, IsOk());
    return *config;
  }

  std::unique_ptr<ModelTask> MakeTask(const TrainerConfig& config) {
    auto task = ModelTask::Make(CpuRuntime(), files_, config);
    EXPECT_THAT(task, IsOk());
    return *std::move(task);
  }

  Trained InOneProcess() {
    const TrainerConfig config = Config(R"({"type": "Local"})");
    const auto model = MakeTask(config);
    WatchedTask task(*model);
    StatusBoard board({});
    StepLog log(clock_, {.every = 1000});
    EXPECT_THAT(RunLocal(config, task, nullptr, log, {clock_, board, stop_}), IsOk());
    return {board.snapshot().evaluation->loss, task.moments};
  }

  Trained ByManyReplicas(const TrainerConfig& config) {
    const auto model = MakeTask(config);
    WatchedTask task(*model);
    JobInThreads job({.config = config,
                      .workers = kReplicas - 1,
                      .make_task = [&] { return MakeTask(config); }},
                     task);
    job.StartServers();
    for (int i = 0; i < kReplicas - 1; ++i) job.StartWorker(i);
    job.StartChief();
    EXPECT_THAT(job.Finish(), IsOk());
    return {job.board().snapshot().evaluation->loss, task.moments};
  }

  static void ExpectAlike(const Trained& many, const Trained& one) {
    ASSERT_EQ(many.moments.size(), one.moments.size());
    // The last moves count most, and which batches these are of is the machine's in mode Async.
    double apart = 0, size = 0;
    for (size_t i = 0; i < one.moments.size(); ++i) {
      apart += std::abs(many.moments[i] - one.moments[i]);
      size += std::abs(one.moments[i]);
    }
    EXPECT_LT(apart, 0.03 * size);
    EXPECT_NEAR(many.loss, one.loss, 0.01 * one.loss);
  }

 private:
  RealClock clock_;
  PosixFileSystem files_;
  StopFlag stop_;
};

// Only the chief's own batches moved them: of sixteen replicas a sixteenth, so that a model which
// was trained well was evaluated badly.
TEST_F(MovingMomentsTest, SixteenReplicasOutOfStepEvaluateAsOneProcessDoes) {
  ExpectAlike(ByManyReplicas(Config(R"({"type": "ParameterServer", "mode": "Async"})")),
              InOneProcess());
}

// What an optimizer keeps is of what is trained.
TEST_F(MovingMomentsTest, SoTheyDoWithAnOptimizerThatKeepsState) {
  ExpectAlike(ByManyReplicas(Config(R"({"type": "ParameterServer", "mode": "Async"})", "adam")),
              InOneProcess());
}

// Sixteen pushes are one step, which moves them once by the mean of what they saw.
TEST_F(MovingMomentsTest, SixteenReplicasInStepMoveThemOnceAStep) {
  ExpectAlike(ByManyReplicas(Config(R"({"type": "ParameterServer", "mode": "Sync"})")),
              InOneProcess());
}

}  // namespace
}  // namespace taas
