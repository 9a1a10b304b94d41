// Models of each kind under each strategy, a few steps of each, over loopback in this process: by
// towers, and through two parameter servers in both modes. What one process computes alone is what
// the others are held against.

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/strategy/local_strategy.h"
#include "trainer/task/model_task.h"
#include "trainer/testing/far_device.h"
#include "trainer/testing/job_in_threads.h"
#include "trainer/testing/task_around.h"

namespace taas {
namespace {

constexpr int64_t kSteps = 40;
constexpr int64_t kBatch = 4;  // Of eight examples, which come again and again.

using Losses = std::map<int64_t, double>;  // By batch.
constexpr int64_t kEvaluated = -1;         // And, if there is test data, of the end.

// Remembers the losses of batches, as they are computed: what became of a last push a replica may
// not learn, if the job ends meanwhile.
class WatchedTask : public TaskAround {
 public:
  using OnLoss = std::function<void(int64_t batch, double loss)>;
  WatchedTask(TrainingTask& task, OnLoss on_loss)
      : TaskAround(task), on_loss_(std::move(on_loss)) {}
  absl::Status FillBatch(int64_t batch) override {
    filled_ = batch;
    return task_.FillBatch(batch);
  }
  // Of several batches the loss is their mean, and counts as that of a batch as large as all.
  absl::StatusOr<float> ComputeGradients(std::span<const int64_t> batches) override {
    const absl::StatusOr<float> loss = task_.ComputeGradients(batches);
    if (loss.ok()) on_loss_(batches[0] / std::ssize(batches), *loss);
    return loss;
  }
  absl::StatusOr<float> MakeStep() override {
    const absl::StatusOr<float> loss = task_.MakeStep();
    if (loss.ok()) on_loss_(filled_, *loss);
    return loss;
  }

 private:
  const OnLoss on_loss_;
  int64_t filled_ = -1;
};

// With the task that it watches.
class OwnTask : public WatchedTask {
 public:
  OwnTask(std::unique_ptr<ModelTask> model, OnLoss on_loss)
      : WatchedTask(*model, std::move(on_loss)), model_(std::move(model)) {}

 private:
  const std::unique_ptr<ModelTask> model_;
};

struct Case {
  const char* name;
  const char* model;
  const char* data;
  const char* optimizer;
  // The moments of a batch are those of the examples of one tower.
  bool normalizes_batches = false;
};

// Their files are made by the test.
constexpr char kText[] = "text";
constexpr char kTable[] = "table";

// Images of the shape, or sequences.
#define WAVES(shape)                                                              \
  R"({"format": "generated", "generated": {"pattern": "waves", "classes": 4, )"   \
  R"("examples": 8, "testExamples": 8, "image": )" shape "}}"

constexpr char kClicks[] = R"({"format": "generated",
    "generated": {"pattern": "clicks", "examples": 8, "testExamples": 8},
    "columns": [{"name": "age", "type": "numeric", "normalise": {"scale": 0.05, "offset": -2.5}},
                {"name": "hour", "type": "identity", "buckets": 24},
                {"name": "ad", "type": "hashed", "buckets": 50}]})";

class EveryModelTest : public testing::TestWithParam<Case> {
 protected:
  TrainerConfig Config(const std::string& strategy, int64_t batch = kBatch) {
    std::string data = GetParam().data;
    if (data == kText) {
      data = R"({"format": "text", "text": {"context": 8}, "train": {"files": [")" +
             MakeFile("eight lines of nine are seventy-two letters, as the machines learn to "
                      "count them now.") +
             R"("]}})";
    } else if (data == kTable) {
      data = R"({"format": "csv", "classes": 0, "csv": {"labelColumn": "y"},
                 "train": {"files": [")" +
             MakeFile("y,a,b\n2,1,0\n-1,0,1\n1,1,1\n3,1,-1\n-2,-1,0\n4,2,0\n-2,0,2\n1,0,-1\n") +
             R"("]}})";
    }
    const auto config = ParseTrainerConfig(
        R"({"seed": 3, "maxSteps": )" + std::to_string(kSteps) + R"(, "batchSize": )" +
        std::to_string(batch) + R"(, "model": )" + GetParam().model + R"(, "data": )" + data +
        R"(, "optimizer": )" + GetParam().optimizer + R"(, "strategy": )" + strategy + "}");
    EXPECT_THAT(config, IsOk());
    return *config;
  }

  std::string MakeFile(const std::string& content) {
    const std::string path = testing::TempDir() + "/every_model.data";
    EXPECT_THAT(files_.WriteAtomically(path, content), IsOk());
    return path;
  }

  std::unique_ptr<ModelTask> MakeTask(const TrainerConfig& config) {
    auto task = ModelTask::Make(far_ ? FarRuntime() : CpuRuntime(), files_, config);
    EXPECT_THAT(task, IsOk());
    return *std::move(task);
  }

  Losses InOneProcess(const TrainerConfig& config) {
    const auto model = MakeTask(config);
    Losses losses;
    WatchedTask task(*model, [&](int64_t batch, double loss) { losses[batch] = loss; });
    StatusBoard board({});
    StepLog log(clock_, {.every = 1000});
    EXPECT_THAT(RunLocal(config, task, nullptr, log, {clock_, board, stop_}), IsOk());
    AddEvaluation(board, &losses);
    return losses;
  }

  // The chief trains as well.
  Losses ByParameterServers(const TrainerConfig& config, int workers) {
    Losses losses;
    std::mutex mutex;
    const WatchedTask::OnLoss on_loss = [&](int64_t batch, double loss) {
      std::lock_guard lock(mutex);
      losses[batch] = loss;
      in_time_.push_back(loss);
    };
    in_time_.clear();
    OwnTask task(MakeTask(config), on_loss);
    const auto make_task = [&] { return std::make_unique<OwnTask>(MakeTask(config), on_loss); };
    JobInThreads job({.config = config, .workers = workers, .make_task = make_task}, task);
    job.StartServers();
    for (int i = 0; i < workers; ++i) job.StartWorker(i);
    job.StartChief();
    EXPECT_THAT(job.Finish(), IsOk());
    AddEvaluation(job.board(), &losses);
    return losses;
  }

  static void AddEvaluation(const StatusBoard& board, Losses* losses) {
    const std::optional<Evaluation> evaluation = board.snapshot().evaluation;
    if (evaluation) (*losses)[kEvaluated] = evaluation->loss;
  }

  // Of the first quarter of all batches and of the last, in each of which all examples are.
  static void ExpectFall(const Losses& losses) {
    std::vector<double> values;
    for (const auto& [batch, loss] : losses) {
      if (batch != kEvaluated) values.push_back(loss);
    }
    ExpectFall(values);
  }

  static void ExpectFall(const std::vector<double>& values) {
    ASSERT_GE(values.size(), static_cast<size_t>(kSteps));
    for (const double loss : values) ASSERT_TRUE(std::isfinite(loss));
    const auto quarter = std::ssize(values) / 4;
    const double first = std::accumulate(values.begin(), values.begin() + quarter, 0.0);
    const double last = std::accumulate(values.end() - quarter, values.end(), 0.0);
    EXPECT_LT(last, 0.9 * first);
  }

  static void ExpectNear(const Losses& got, const Losses& wanted) {
    for (const auto& [batch, loss] : wanted) {
      const auto found = got.find(batch);
      ASSERT_NE(found, got.end()) << batch;
      // Sums in another order: a few units of the last place per step.
      ASSERT_NEAR(found->second, loss, 1e-4 + 1e-3 * loss) << batch;
    }
  }

  // Of the last training by parameter servers, as they were computed: out of step a replica that
  // stood still may have been lent the first batches, and compute them last.
  std::vector<double> in_time_;
  bool far_ = false;  // Whether it computes with FarRuntime.

 private:
  RealClock clock_;
  PosixFileSystem files_;
  StopFlag stop_;
};

constexpr char kLocal[] = R"({"type": "Local"})";

TEST_P(EveryModelTest, TwoTowersTrainAsOneProcessDoesWithTwiceTheBatch) {
  const Losses towers =
      InOneProcess(Config(R"({"type": "Towers", "towers": 2})", kBatch / 2));
  ExpectFall(towers);
  if (GetParam().normalizes_batches) return;
  ExpectNear(towers, InOneProcess(Config(kLocal)));
}

TEST_P(EveryModelTest, OneReplicaInStepTrainsAsOneProcessDoes) {
  const Losses alone = InOneProcess(Config(kLocal));
  ExpectFall(alone);
  ExpectNear(ByParameterServers(Config(R"({"type": "ParameterServer", "mode": "Sync"})"), 0),
             alone);
}

TEST_P(EveryModelTest, TwoReplicasInStepTrainIt) {
  ExpectFall(ByParameterServers(Config(R"({"type": "ParameterServer", "mode": "Sync"})"), 1));
}

TEST_P(EveryModelTest, TwoReplicasOutOfStepTrainIt) {
  ByParameterServers(Config(R"({"type": "ParameterServer", "mode": "Async"})"), 1);
  ExpectFall(in_time_);
}

// Whose memory the host does not see, and which computes when somebody waits.
TEST_P(EveryModelTest, AFarDeviceComesToTheSameBits) {
  const std::string in_step = R"({"type": "ParameterServer", "mode": "Sync"})";
  const TrainerConfig alone = Config(kLocal);
  TrainerConfig side_by_side = alone;
  side_by_side.engine.inter_op_threads = 2;
  const TrainerConfig towers = Config(R"({"type": "Towers", "towers": 2})", kBatch / 2);
  const Losses near_alone = InOneProcess(alone), near_towers = InOneProcess(towers);
  const Losses near_in_step = ByParameterServers(Config(in_step), 0);
  far_ = true;
  EXPECT_EQ(InOneProcess(alone), near_alone);
  EXPECT_EQ(InOneProcess(side_by_side), near_alone);
  EXPECT_EQ(InOneProcess(towers), near_towers);
  EXPECT_EQ(ByParameterServers(Config(in_step), 0), near_in_step);
  ByParameterServers(Config(R"({"type": "ParameterServer", "mode": "Async"})"), 1);
  ExpectFall(in_time_);
}

INSTANTIATE_TEST_SUITE_P(
    Models, EveryModelTest,
    testing::Values(
        Case{"Linear", R"({"name": "linear"})", kTable,
             R"({"name": "sgd", "learningRate": 0.05})"},
        Case{"Layers",
             R"({"name": "layers", "layers": [
                 {"type": "conv", "filters": 3, "activation": "gelu"}, {"type": "maxPool"},
                 {"type": "dense", "units": 9, "activation": "tanh"}, {"type": "layerNorm"}]})",
             WAVES("[8, 8, 1]"), R"({"name": "sgd", "learningRate": 0.05})"},
        Case{"Mlp", R"({"name": "mlp", "hidden": [9]})", WAVES("[4, 4, 1]"),
             R"({"name": "momentum", "learningRate": 0.05})"},
        Case{"LeNet", R"({"name": "lenet", "hidden": [16]})", WAVES("[8, 8, 1]"),
             R"({"name": "sgd", "learningRate": 0.02})"},
        Case{"ResNet20", R"({"name": "resnet20"})", WAVES("[8, 8, 3]"),
             R"({"name": "sgd", "learningRate": 0.05})", /*normalizes_batches=*/true},
        Case{"Lstm", R"({"name": "lstm", "hidden": [16, 8]})", WAVES("[6, 4, 1]"),
             R"({"name": "adam", "learningRate": 0.02})"},
        Case{"Gpt2", R"({"name": "gpt2", "blocks": 1, "heads": 2, "width": 16})", kText,
             R"({"name": "adamw", "learningRate": 0.01})"},
        Case{"WideDeep",
             R"({"name": "wideDeep", "hidden": [8], "wide": ["ad", "hour"],
                 "deep": [{"column": "age"}, {"column": "ad", "units": 4}]})",
             kClicks, R"({"name": "adam", "learningRate": 0.02})"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
