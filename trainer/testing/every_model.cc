#include "trainer/testing/every_model.h"

#include <cmath>
#include <deque>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "operator/base/status_matchers.h"
#include "trainer/strategy/local_strategy.h"
#include "trainer/testing/job_in_threads.h"
#include "trainer/testing/task_around.h"

namespace taas {
namespace {

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
  absl::Status FillBatches(std::span<const int64_t> batches) override {
    filled_ = batches[0] / std::ssize(batches);
    return task_.FillBatches(batches);
  }
  absl::StatusOr<float> ComputeGradients(std::span<const int64_t> batches) override {
    const absl::StatusOr<float> loss = task_.ComputeGradients(batches);
    if (loss.ok()) on_loss_(batches[0] / std::ssize(batches), *loss);
    return loss;
  }
  absl::Status LaunchStep() override {
    launched_.push_back(filled_);
    return task_.LaunchStep();
  }
  absl::StatusOr<float> FinishStep() override {
    const absl::StatusOr<float> loss = task_.FinishStep();
    if (loss.ok()) on_loss_(launched_.front(), *loss);
    launched_.pop_front();
    return loss;
  }

 private:
  const OnLoss on_loss_;
  int64_t filled_ = -1;
  std::deque<int64_t> launched_;  // Batches of steps that are not finished.
};

// With the task that it watches.
class OwnTask : public WatchedTask {
 public:
  OwnTask(std::unique_ptr<ModelTask> model, OnLoss on_loss)
      : WatchedTask(*model, std::move(on_loss)), model_(std::move(model)) {}

 private:
  const std::unique_ptr<ModelTask> model_;
};

// Their files are made here.
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

}  // namespace

std::vector<ModelCase> EveryModelCase() {
  return {
      ModelCase{"Linear", R"({"name": "linear"})", kTable,
                R"({"name": "sgd", "learningRate": 0.05})"},
      ModelCase{"Layers",
                R"({"name": "layers", "layers": [
                    {"type": "conv", "filters": 3, "activation": "gelu"}, {"type": "maxPool"},
                    {"type": "dense", "units": 9, "activation": "tanh"}, {"type": "layerNorm"}]})",
                WAVES("[8, 8, 1]"), R"({"name": "sgd", "learningRate": 0.05})"},
      ModelCase{"Mlp", R"({"name": "mlp", "hidden": [9]})", WAVES("[4, 4, 1]"),
                R"({"name": "momentum", "learningRate": 0.05})"},
      ModelCase{"LeNet", R"({"name": "lenet", "hidden": [16]})", WAVES("[8, 8, 1]"),
                R"({"name": "sgd", "learningRate": 0.02})"},
      ModelCase{"ResNet20", R"({"name": "resnet20"})", WAVES("[8, 8, 3]"),
                R"({"name": "sgd", "learningRate": 0.05})", /*normalizes_batches=*/true},
      ModelCase{"Lstm", R"({"name": "lstm", "hidden": [16, 8]})", WAVES("[6, 4, 1]"),
                R"({"name": "adam", "learningRate": 0.02})"},
      ModelCase{"Gpt2", R"({"name": "gpt2", "blocks": 1, "heads": 2, "width": 16})", kText,
                R"({"name": "adamw", "learningRate": 0.01})"},
      ModelCase{"WideDeep",
                R"({"name": "wideDeep", "hidden": [8], "wide": ["ad", "hour"],
                    "deep": [{"column": "age"}, {"column": "ad", "units": 4}]})",
                kClicks, R"({"name": "adam", "learningRate": 0.02})"}};
}

TrainerConfig EveryModel::Config(const std::string& strategy, int64_t batch) {
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
      R"({"seed": 3, "maxSteps": )" + std::to_string(kModelSteps) + R"(, "batchSize": )" +
      std::to_string(batch) + R"(, "model": )" + GetParam().model + R"(, "data": )" + data +
      R"(, "optimizer": )" + GetParam().optimizer + R"(, "strategy": )" + strategy + "}");
  EXPECT_THAT(config, IsOk());
  return *config;
}

std::string EveryModel::MakeFile(const std::string& content) {
  const std::string path = testing::TempDir() + "/every_model.data";
  EXPECT_THAT(files_.WriteAtomically(path, content), IsOk());
  return path;
}

std::unique_ptr<ModelTask> EveryModel::MakeTask(const TrainerConfig& config) {
  auto task = ModelTask::Make(runtime_(), files_, config);
  EXPECT_THAT(task, IsOk());
  return *std::move(task);
}

Losses EveryModel::InOneProcess(const TrainerConfig& config) {
  const auto model = MakeTask(config);
  Losses losses;
  WatchedTask task(*model, [&](int64_t batch, double loss) { losses[batch] = loss; });
  StatusBoard board({});
  StepLog log(clock_, {.every = 1000});
  EXPECT_THAT(RunLocal(config, task, nullptr, log, {clock_, board, stop_}), IsOk());
  AddEvaluation(board, &losses);
  return losses;
}

Losses EveryModel::ByParameterServers(const TrainerConfig& config, int workers) {
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

void EveryModel::AddEvaluation(const StatusBoard& board, Losses* losses) {
  const std::optional<Evaluation> evaluation = board.snapshot().evaluation;
  if (evaluation) (*losses)[kEvaluated] = evaluation->loss;
}

void EveryModel::ExpectFall(const Losses& losses) {
  std::vector<double> values;
  for (const auto& [batch, loss] : losses) {
    if (batch != kEvaluated) values.push_back(loss);
  }
  ExpectFall(values);
}

void EveryModel::ExpectFall(const std::vector<double>& values) {
  ASSERT_GE(values.size(), static_cast<size_t>(kModelSteps));
  for (const double loss : values) ASSERT_TRUE(std::isfinite(loss));
  const auto quarter = std::ssize(values) / 4;
  const double first = std::accumulate(values.begin(), values.begin() + quarter, 0.0);
  const double last = std::accumulate(values.end() - quarter, values.end(), 0.0);
  EXPECT_LT(last, 0.9 * first);
}

void EveryModel::ExpectNear(const Losses& got, const Losses& wanted, double relative) {
  for (const auto& [batch, loss] : wanted) {
    const auto found = got.find(batch);
    ASSERT_NE(found, got.end()) << batch;
    // Sums in another order: a few units of the last place per step.
    ASSERT_NEAR(found->second, loss, 1e-4 + relative * loss) << batch;
  }
}

}  // namespace taas
