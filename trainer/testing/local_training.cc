#include "trainer/testing/local_training.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "operator/base/status_matchers.h"
#include "trainer/strategy/local_strategy.h"
#include "trainer/summary/sampled_tensors.h"
#include "trainer/testing/task_around.h"

namespace taas {
namespace {

// Remembers what was evaluated.
class WatchedTask : public TaskAround {
 public:
  using TaskAround::TaskAround;
  absl::Status FillBatches(std::span<const int64_t> batches) override {
    filled_.assign(batches.begin(), batches.end());
    return task_.FillBatches(batches);
  }
  absl::StatusOr<float> ComputeGradients(std::span<const int64_t> batches) override {
    trained.insert(trained.end(), batches.begin(), batches.end());
    auto loss = task_.ComputeGradients(batches);
    if (std::ssize(trained) == explodes_at) {
      task_.session().gradient(1).host()[2] = std::numeric_limits<float>::infinity();
    }
    return loss;
  }
  bool makes_steps() const override { return explodes_at == 0 && task_.makes_steps(); }
  absl::Status LaunchStep() override {
    launched_.push_back(filled_);
    return task_.LaunchStep();
  }
  absl::StatusOr<float> FinishStep() override {
    trained.insert(trained.end(), launched_.front().begin(), launched_.front().end());
    launched_.pop_front();
    return task_.FinishStep();
  }
  absl::StatusOr<std::optional<Evaluation>> Evaluate(
      const std::vector<TensorRef>& variables) override {
    evaluated = Copies(variables);
    return task_.Evaluate(variables);
  }

  Tensors evaluated;
  std::vector<int64_t> trained;
  int64_t explodes_at = 0;  // The step whose gradient has an infinity, from 1.

 private:
  std::vector<int64_t> filled_;
  std::deque<std::vector<int64_t>> launched_;  // Batches of steps that are not finished.
};

}  // namespace

TrainerConfig MakeConfig(const std::string& more) {
  const auto config = ParseTrainerConfig(R"({
      "model": {"name": "mlp", "hidden": [7, 5]}, "seed": 3,
      "data": {"format": "generated", "generated":
        {"examples": 100, "testExamples": 60, "features": 9, "classes": 4}},
      )" + more + "}");
  EXPECT_THAT(config, IsOk());
  return *config;
}

Tensors Copies(const std::vector<TensorRef>& tensors) {
  Tensors copies;
  for (const TensorRef& tensor : tensors) {
    EXPECT_THAT(tensor.Read(std::span(copies.emplace_back(tensor.count()))), IsOk());
  }
  return copies;
}

LocalTraining::LocalTraining() : null_(open("/dev/null", O_WRONLY)) {}
LocalTraining::~LocalTraining() { close(null_); }

std::string LocalTraining::NewDir() {
  std::string name = testing::TempDir() + "local_XXXXXX";
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  return name;
}

std::unique_ptr<SnapshotStore> LocalTraining::OpenStore(const TrainerConfig& config,
                                                        Session& session, FileSystem& files) {
  if (config.checkpoint_dir.empty()) return nullptr;
  const auto shape = ShapeOf(session, config);
  EXPECT_THAT(shape, IsOk());
  auto store = SnapshotStore::Open(
      files, clock_, {.dir = config.checkpoint_dir, .uid = "uid", .shape = *shape});
  EXPECT_THAT(store, IsOk());
  return *std::move(store);
}

Outcome LocalTraining::Train(const TrainerConfig& config, int64_t stop_at) {
  auto task = ModelTask::Make(runtime_(), files_, config);
  EXPECT_THAT(task, IsOk());
  const auto store = OpenStore(config, (*task)->session());
  return Train(config, **task, store.get(), stop_at);
}

Outcome LocalTraining::Train(const TrainerConfig& config, ModelTask& task, SnapshotStore* store,
                             int64_t stop_at) {
  WatchedTask watched(task);
  watched.explodes_at = explodes_at_;
  StatusBoard board({.max_steps = config.max_steps});
  StopFlag stop;
  StepLog log(clock_, {.batch_size = ExamplesPerStep(config),
                       .max_steps = config.max_steps,
                       .fd = null_,
                       .also = [&](int64_t step, double, double) {
                         on_step_(step);
                         if (step == stop_at) stop.Stop();
                       },
                       .looks_at = looks_at_});
  Outcome outcome;
  outcome.status = RunLocal(config, watched, store, log, {clock_, board, stop, limits_});
  outcome.values = Copies(VariablesOf(task.session()));
  for (Sample::Tensor& tensor : SampledTensors(task.session())) {
    outcome.histograms.push_back(std::move(tensor.values));
  }
  outcome.evaluated = watched.evaluated;
  outcome.trained = watched.trained;
  outcome.board = board.snapshot();
  return outcome;
}

}  // namespace taas
