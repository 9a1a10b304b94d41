#include "trainer/strategy/local_strategy.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/fault_file_system.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"
#include "trainer/checkpoint/bundle_reader.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/summary/sampled_tensors.h"
#include "trainer/task/model_task.h"
#include "trainer/task/model_update.h"
#include "trainer/testing/failing_device.h"
#include "trainer/testing/far_device.h"

namespace taas {
namespace {

using ::testing::HasSubstr;
using Tensors = std::vector<std::vector<float>>;

constexpr int64_t kBatch = 12;

// Two hidden layers on generated clusters; `more` are further fields of spec.trainer.
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

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(file), {});
  EXPECT_FALSE(content.empty()) << path;
  return content;
}

// What a run ends with.
struct Outcome {
  absl::Status status;
  Tensors values;
  Tensors evaluated;
  Tensors histograms;  // Of the last step: what a summary is made of.
  std::vector<int64_t> trained;  // Batches.
  StatusBoard::Snapshot board;
};

// Remembers what was evaluated.
class WatchedTask : public TrainingTask {
 public:
  explicit WatchedTask(TrainingTask& task) : task_(task) {}
  Session& session() override { return task_.session(); }
  absl::Status FillBatch(int64_t batch) override {
    filled_ = batch;
    return task_.FillBatch(batch);
  }
  int64_t batches_per_step() const override { return task_.batches_per_step(); }
  absl::StatusOr<float> ComputeGradients(std::span<const int64_t> batches) override {
    trained.insert(trained.end(), batches.begin(), batches.end());
    auto loss = task_.ComputeGradients(batches);
    if (std::ssize(trained) == explodes_at) {
      task_.session().gradient(1).host()[2] = std::numeric_limits<float>::infinity();
    }
    return loss;
  }
  bool makes_steps() const override { return explodes_at == 0 && task_.makes_steps(); }
  absl::StatusOr<float> MakeStep() override {
    trained.push_back(filled_);
    return task_.MakeStep();
  }
  absl::StatusOr<std::optional<Evaluation>> Evaluate(
      const std::vector<TensorRef>& variables) override {
    evaluated = Copies(variables);
    return task_.Evaluate(variables);
  }
  absl::Status Export(int64_t step, const std::vector<TensorRef>& variables) override {
    return task_.Export(step, variables);
  }

  Tensors evaluated;
  std::vector<int64_t> trained;
  int64_t explodes_at = 0;  // The step whose gradient has an infinity, from 1.

 private:
  TrainingTask& task_;
  int64_t filled_ = -1;
};

class LocalStrategyTest : public testing::Test {
 protected:
  LocalStrategyTest() : null_(open("/dev/null", O_WRONLY)) {}
  ~LocalStrategyTest() override { close(null_); }

  std::string NewDir() {
    std::string name = testing::TempDir() + "local_XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    return name;
  }

  std::unique_ptr<SnapshotStore> OpenStore(const TrainerConfig& config, Session& session) {
    return OpenStore(config, session, files_);
  }
  std::unique_ptr<SnapshotStore> OpenStore(const TrainerConfig& config, Session& session,
                                           FileSystem& files) {
    if (config.checkpoint_dir.empty()) return nullptr;
    const auto shape = ShapeOf(session, config);
    EXPECT_THAT(shape, IsOk());
    auto store = SnapshotStore::Open(
        files, clock_, {.dir = config.checkpoint_dir, .uid = "uid", .shape = *shape});
    EXPECT_THAT(store, IsOk());
    return *std::move(store);
  }

  // Stops after `stop_at` steps, if that is not 0.
  Outcome Train(const TrainerConfig& config, int64_t stop_at = 0) {
    auto task = ModelTask::Make(far_ ? FarRuntime() : CpuRuntime(), files_, config);
    EXPECT_THAT(task, IsOk());
    const auto store = OpenStore(config, (*task)->session());
    return Train(config, **task, store.get(), stop_at);
  }

  Outcome Train(const TrainerConfig& config, ModelTask& task, SnapshotStore* store,
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
                         }});
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

  bool far_ = false;  // Whether it computes with FarRuntime.
  PosixFileSystem files_;
  RealClock clock_;
  const int null_;
  int64_t explodes_at_ = 0;  // See WatchedTask.
  TryLimits limits_;
  std::function<void(int64_t step)> on_step_ = [](int64_t) {};
};

struct UpdateCase {
  const char* name;
  const char* update;  // Fields of spec.trainer.
};

const UpdateCase kUpdates[] = {
    {"Sgd", R"("optimizer": {"name": "sgd", "learningRate": 0.2})"},
    {"SgdDecaying",
     R"("optimizer": {"name": "sgd", "learningRate": 0.2, "decay": {"steps": 5, "rate": 0.9}})"},
    {"Momentum", R"("optimizer": {"name": "momentum", "learningRate": 0.05})"},
    {"Adam", R"("optimizer": {"name": "adam", "learningRate": 0.01})"},
    {"AdamAveragedWithL2",
     R"("optimizer": {"name": "adam", "learningRate": 0.01}, "movingAverage": {"decay": 0.99},
        "regularization": {"l2": 0.01})"},
    {"NesterovClippedByNorm",
     R"("optimizer": {"name": "momentum", "learningRate": 0.05, "nesterov": true,
        "clip": {"globalNorm": 0.5}})"},
    {"AdamW", R"("optimizer": {"name": "adamw", "learningRate": 0.01, "weightDecay": 0.1})"},
    {"AdagradInSteps",
     R"("optimizer": {"name": "adagrad", "learningRate": 0.1,
        "decay": {"type": "step", "boundaries": [10, 30], "rates": [0.05, 0.01]}})"},
    {"RmsPropScaledLoss",
     R"("optimizer": {"name": "rmsprop", "learningRate": 0.003, "centered": true,
        "warmup": {"steps": 5}, "lossScale": 1024})"},
    {"FtrlWithL1",
     R"("optimizer": {"name": "ftrl", "learningRate": 0.1, "l1": 0.001, "l2": 0.01},
        "regularization": {"l1": 0.0005, "l2": 0.001})"},
};

class UpdateTest : public LocalStrategyTest, public testing::WithParamInterface<UpdateCase> {};

INSTANTIATE_TEST_SUITE_P(Table, UpdateTest, testing::ValuesIn(kUpdates),
                         [](const auto& info) { return std::string(info.param.name); });

void ExpectNear(const Tensors& some, const Tensors& others, double tolerance) {
  ASSERT_EQ(some.size(), others.size());
  for (size_t i = 0; i < some.size(); ++i) {
    ASSERT_EQ(some[i].size(), others[i].size());
    for (size_t k = 0; k < some[i].size(); ++k) {
      ASSERT_NEAR(some[i][k], others[i][k], tolerance) << "variable " << i << "[" << k << "]";
    }
  }
}

TEST_P(UpdateTest, TowersEqualOneProcessWithTheirBatchesAsOne) {
  TrainerConfig towers = MakeConfig(GetParam().update);
  towers.max_steps = 60;
  towers.strategy = StrategyType::kTowers;
  towers.towers = 4;
  towers.batch_size = kBatch / 4;
  TrainerConfig one = MakeConfig(GetParam().update);
  one.max_steps = 60;
  one.strategy = StrategyType::kLocal;
  one.batch_size = kBatch;
  const Outcome of_towers = Train(towers);
  const Outcome of_one = Train(one);
  ASSERT_THAT(of_towers.status, IsOk());
  ASSERT_THAT(of_one.status, IsOk());
  EXPECT_EQ(of_towers.board.progress.step, 60);
  ExpectNear(of_towers.values, of_one.values, 1e-4);
  ExpectNear(of_towers.evaluated, of_one.evaluated, 1e-4);
  EXPECT_NEAR(*of_towers.board.progress.loss, *of_one.board.progress.loss, 1e-4);
}

TEST_P(UpdateTest, StoppedAndResumedIsAsIfNeverStopped) {
  TrainerConfig config = MakeConfig(GetParam().update);
  config.max_steps = 40;
  config.strategy = StrategyType::kTowers;
  config.towers = 2;
  config.batch_size = kBatch;
  const Outcome whole = Train(config);
  ASSERT_THAT(whole.status, IsOk());
  config.checkpoint_dir = NewDir();
  EXPECT_THAT(Train(config, /*stop_at=*/17).status, StatusIs(absl::StatusCode::kCancelled));
  const Outcome resumed = Train(config);
  ASSERT_THAT(resumed.status, IsOk());
  EXPECT_EQ(resumed.board.progress.step, 40);
  EXPECT_EQ(resumed.values, whole.values);
  EXPECT_EQ(resumed.evaluated, whole.evaluated);
}

// Whose memory the host does not see, and which computes when somebody waits.
TEST_P(UpdateTest, AFarDeviceComesToTheSameBitsAndFiles) {
  TrainerConfig config = MakeConfig(GetParam().update);
  config.max_steps = 40;
  config.batch_size = kBatch;
  config.export_format = "safetensors";
  config.checkpoint_steps = 5;
  const auto train = [&](bool far, std::string* files) {
    far_ = far;
    config.checkpoint_dir = NewDir();
    config.export_dir = NewDir();
    EXPECT_THAT(Train(config, /*stop_at=*/17).status, StatusIs(absl::StatusCode::kCancelled));
    Outcome outcome = Train(config);
    EXPECT_THAT(outcome.status, IsOk());
    *files = ContentOf(config.export_dir + "/model.safetensors") +
             ContentOf(config.checkpoint_dir + "/model.ckpt-40.data-00000-of-00001");
    return outcome;
  };
  for (const int64_t towers : {1, 2}) {
    config.strategy = towers == 1 ? StrategyType::kLocal : StrategyType::kTowers;
    config.towers = towers;
    std::string near_files, far_files;
    const Outcome near = train(false, &near_files), far = train(true, &far_files);
    EXPECT_EQ(far.values, near.values);
    EXPECT_EQ(far.evaluated, near.evaluated);
    EXPECT_EQ(far.histograms, near.histograms);
    EXPECT_FALSE(far.histograms[0].empty());
    EXPECT_EQ(far.board.evaluation->loss, near.board.evaluation->loss);
    EXPECT_EQ(far_files, near_files);
  }
}

TEST_F(LocalStrategyTest, SlotsBeginWhereTheOptimizerSays) {
  TrainerConfig config = MakeConfig(
      R"("optimizer": {"name": "adagrad", "learningRate": 0.1, "initialAccumulator": 0.5})");
  auto task = ModelTask::Make(CpuRuntime(), files_, config);
  ASSERT_THAT(task, IsOk());
  const auto adagrad = Optimizer::Parse(config.optimizer);
  ASSERT_THAT(adagrad, IsOk());
  Session& session = (*task)->session();
  ASSERT_THAT(ModelUpdate::Make(**adagrad, session), IsOk());
  ASSERT_EQ(session.model().slots(), 1u);
  const Tensors of_servers =
      InitialSlots(**adagrad, session.variables(), InitialSnapshot(session)->values)[0];
  for (size_t i = 0; i < session.variables().size(); ++i) {
    EXPECT_FALSE(session.model().slot(0, i).empty());
    EXPECT_THAT(session.model().slot(0, i).host(), testing::Each(0.5f));
    EXPECT_THAT(of_servers[i], testing::ElementsAreArray(session.model().slot(0, i).host()));
  }
}

// A power of two changes no digit of a gradient, unless it is left in.
TEST_F(LocalStrategyTest, LossScaleIsDividedOutAgainInEachOfAHundredSteps) {
  const std::string optimizers[] = {
      R"("optimizer": {"name": "sgd", "learningRate": 0.2)",
      R"("regularization": {"l1": 0.001, "l2": 0.01}, "optimizer": {"name": "adam",
         "learningRate": 0.01, "clip": {"globalNorm": 0.5})"};
  for (const std::string& optimizer : optimizers) {
    const auto train = [&](const std::string& scale) {
      TrainerConfig config = MakeConfig(optimizer + scale + "}");
      config.max_steps = 100;
      config.strategy = StrategyType::kLocal;
      return Train(config);
    };
    const Outcome plain = train("");
    ASSERT_THAT(plain.status, IsOk());
    for (const char* scale : {"1024", "0.125"}) {
      const Outcome scaled = train(std::string(R"(, "lossScale": )") + scale);
      ASSERT_THAT(scaled.status, IsOk());
      EXPECT_EQ(scaled.values, plain.values) << optimizer << ", " << scale;
      EXPECT_EQ(scaled.board.progress.loss, plain.board.progress.loss);
    }
    EXPECT_NE(train(R"(, "lossScale": 3)").values, plain.values) << "nothing is scaled";
  }
}

TEST_F(LocalStrategyTest, RateGrowsWithTheTowersWhereToldSo) {
  TrainerConfig scaled = MakeConfig(
      R"("optimizer": {"name": "sgd", "learningRate": 0.0625, "scaleByWorkers": true})");
  TrainerConfig large = MakeConfig(R"("optimizer": {"name": "sgd", "learningRate": 0.25})");
  for (TrainerConfig* config : {&scaled, &large}) {
    config->max_steps = 10;
    config->strategy = StrategyType::kTowers;
    config->towers = 4;
  }
  const Outcome of_scaled = Train(scaled), of_large = Train(large);
  ASSERT_THAT(of_scaled.status, IsOk());
  EXPECT_EQ(of_scaled.values, of_large.values);
}

TEST_F(LocalStrategyTest, ClippedGradientsMoveNoVariableFurther) {
  TrainerConfig config = MakeConfig(
      R"("optimizer": {"name": "sgd", "learningRate": 1, "clip": {"value": 0.0001}})");
  config.max_steps = 10;
  config.strategy = StrategyType::kTowers;
  config.towers = 2;
  auto task = ModelTask::Make(CpuRuntime(), files_, config);
  ASSERT_THAT(task, IsOk());
  EXPECT_THAT((*task)->session().InitializeVariables(config.seed), IsOk());
  const Tensors before = InitialSnapshot((*task)->session())->values;
  const Outcome outcome = Train(config);
  ASSERT_THAT(outcome.status, IsOk());
  EXPECT_NE(outcome.values, before);
  ExpectNear(outcome.values, before, 10 * 0.0001 + 1e-6);
}

TEST_F(LocalStrategyTest, TowersGoOnWithTheExamplesThatOthersLeft) {
  // Six steps of one process, then three of two towers, are twelve batches in their order.
  TrainerConfig config = MakeConfig(R"("optimizer": {"name": "sgd", "learningRate": 0.2})");
  config.checkpoint_dir = NewDir();
  config.batch_size = kBatch;
  config.max_steps = 6;
  ASSERT_THAT(Train(config).status, IsOk());
  config.strategy = StrategyType::kTowers;
  config.towers = 2;
  config.max_steps = 9;
  ASSERT_THAT(Train(config).status, IsOk());
  auto task = ModelTask::Make(CpuRuntime(), files_, config);
  ASSERT_THAT(task, IsOk());
  Snapshot last;
  ASSERT_EQ(*OpenStore(config, (*task)->session())->Load(&last), true);
  EXPECT_EQ(last.step, 9);
  EXPECT_EQ(last.committed.size(), 12);
}

TEST_F(LocalStrategyTest, GapsThatSeveralReplicasLeftAreTrainedFirst) {
  TrainerConfig config = MakeConfig(R"("optimizer": {"name": "sgd", "learningRate": 0.2})");
  config.checkpoint_dir = NewDir();
  config.batch_size = kBatch;
  config.max_steps = 6;
  config.strategy = StrategyType::kTowers;
  config.towers = 2;
  {
    auto task = ModelTask::Make(CpuRuntime(), files_, config);
    ASSERT_THAT(task, IsOk());
    Snapshot snapshot = *InitialSnapshot((*task)->session());
    snapshot.step = 4;
    snapshot.committed = CommittedSet(2, {4, 5});
    ASSERT_THAT(OpenStore(config, (*task)->session())->Save(snapshot), IsOk());
  }
  const Outcome outcome = Train(config);
  ASSERT_THAT(outcome.status, IsOk());
  EXPECT_THAT(outcome.trained, testing::ElementsAre(2, 3, 6, 7));
}

TEST_F(LocalStrategyTest, EvaluationIsOfTheMovingAverages) {
  TrainerConfig config = MakeConfig(
      R"("optimizer": {"name": "sgd", "learningRate": 0.2}, "movingAverage": {"decay": 0.99})");
  config.batch_size = kBatch;
  config.max_steps = 30;
  const Outcome averaged = Train(config);
  ASSERT_THAT(averaged.status, IsOk());
  EXPECT_NE(averaged.evaluated, averaged.values);
  // The averages change nothing but what is evaluated.
  TrainerConfig plain = MakeConfig(R"("optimizer": {"name": "sgd", "learningRate": 0.2})");
  plain.batch_size = kBatch;
  plain.max_steps = 30;
  const Outcome unaveraged = Train(plain);
  ASSERT_THAT(unaveraged.status, IsOk());
  EXPECT_EQ(unaveraged.values, averaged.values);
  EXPECT_EQ(unaveraged.evaluated, unaveraged.values);
  ASSERT_TRUE(averaged.board.evaluation.has_value());
  EXPECT_NE(averaged.board.evaluation->loss, unaveraged.board.evaluation->loss);
}

// Some variables are of the step that failed, and some of the one before: a restart begins with
// the checkpoint that there was.
TEST_F(LocalStrategyTest, AfterAStepThatFailedOnTheDeviceNothingIsSaved) {
  const std::function<void(FailingDevice&, Session&)> failures[] = {
      // In the update, before its end, and after it, when the host looks what became of it.
      [](FailingDevice& device, Session& session) {
        device.fails_writing = session.variable(1).data();
      },
      [](FailingDevice& device, Session&) { device.fails_waiting = true; },
      [](FailingDevice& device, Session& session) {
        device.fails_reading = &session.device_block()->fault;
      }};
  for (const auto& fail : failures) {
    for (const int64_t towers : {1, 2}) {
      TrainerConfig config = MakeConfig(R"("optimizer": {"name": "sgd", "learningRate": 0.2})");
      config.strategy = towers == 1 ? StrategyType::kLocal : StrategyType::kTowers;
      config.towers = towers;
      config.checkpoint_dir = NewDir();
      config.checkpoint_steps = 5;
      config.max_steps = 20;
      FailingDevice device;
      auto task = ModelTask::Make({{&device}, CpuRuntime().kernels}, files_, config);
      ASSERT_THAT(task, IsOk());
      const auto store = OpenStore(config, (*task)->session());
      on_step_ = [&](int64_t step) {
        if (step == 7) fail(device, (*task)->session());
      };
      EXPECT_THAT(Train(config, **task, store.get(), 0).status,
                  StatusIs(absl::StatusCode::kUnavailable, HasSubstr("does not answer")));
      on_step_ = [](int64_t) {};
      Snapshot saved;
      ASSERT_TRUE(*store->Load(&saved));
      // With towers the gradients fail, and the variables are those of step 7.
      EXPECT_EQ(saved.step, towers == 1 || device.fails_writing != nullptr ? 5 : 7);
    }
  }
}

// Of a learning rate that is far too high.
TEST_F(LocalStrategyTest, ALossThatIsNoNumberEndsItBeforeTheUpdateOfItsStep) {
  TrainerConfig config = MakeConfig(R"("optimizer": {"name": "sgd", "learningRate": 1e6})");
  config.strategy = StrategyType::kLocal;
  config.checkpoint_dir = NewDir();
  config.max_steps = 20;
  std::string messages[2];
  for (const bool far : {false, true}) {
    far_ = far;
    const Outcome outcome = Train(config);
    messages[far] = std::string(outcome.status.message());
    EXPECT_THAT(messages[far], HasSubstr("Model diverged with loss = "));
    const size_t step = outcome.trained.size();
    EXPECT_THAT(messages[far], HasSubstr("at step " + std::to_string(step) + ", in batch " +
                                         std::to_string(step - 1)));
  }
  EXPECT_EQ(messages[1], messages[0]);
}

// The evaluator evaluated a model of zeros.
TEST_F(LocalStrategyTest, AveragesInTheCheckpointOfAnUntrainedModelAreItsVariables) {
  TrainerConfig config = MakeConfig(
      R"("optimizer": {"name": "momentum", "learningRate": 0.1}, "movingAverage": {"decay": 0.9})");
  config.batch_size = kBatch;
  config.max_steps = 10;
  config.checkpoint_dir = NewDir();
  const auto task = ModelTask::Make(CpuRuntime(), files_, config);
  ASSERT_THAT(task, IsOk());
  const auto store = OpenStore(config, (*task)->session());
  StatusBoard board({});
  StepLog log(clock_, {.fd = null_});
  StopFlag stop;
  stop.Stop();
  EXPECT_THAT(RunLocal(config, **task, store.get(), log, {clock_, board, stop}),
              StatusIs(absl::StatusCode::kCancelled));
  Snapshot first;
  EXPECT_EQ(*store->Load(&first), true);
  EXPECT_EQ(first.step, 0);
  ASSERT_EQ(first.slots.size(), 2u);
  EXPECT_EQ(first.slots[1], first.values);
  EXPECT_NE(first.slots[0], first.values);
}

TEST_F(LocalStrategyTest, CheckpointHasTensorFlowsNames) {
  TrainerConfig config = MakeConfig(
      R"("optimizer": {"name": "adam", "learningRate": 0.1}, "movingAverage": {"decay": 0.99})");
  config.batch_size = kBatch;
  config.max_steps = 1;
  config.checkpoint_dir = NewDir();
  ASSERT_THAT(Train(config).status, IsOk());
  auto reader = BundleReader::Open(files_, config.checkpoint_dir + "/model.ckpt-1");
  ASSERT_THAT(reader, IsOk());
  for (const char* name :
       {"hidden1/weights", "hidden1/weights/Adam", "hidden1/weights/Adam_1",
        "hidden1/weights/ExponentialMovingAverage", "softmax_linear/biases/Adam", "beta1_power",
        "beta2_power", "global_step"}) {
    EXPECT_TRUE((*reader)->Has(name)) << name;
  }
}

TEST_F(LocalStrategyTest, DiskThatFailsOnceCostsACheckpointAndNoStep) {
  TrainerConfig config = MakeConfig(R"("optimizer": {"name": "adam", "learningRate": 0.01})");
  config.batch_size = kBatch;
  config.max_steps = 40;
  const Outcome undisturbed = Train(config);
  config.checkpoint_dir = NewDir();
  config.checkpoint_steps = 10;
  auto task = ModelTask::Make(CpuRuntime(), files_, config);
  ASSERT_THAT(task, IsOk());
  FaultFileSystem files(files_);
  const auto store = OpenStore(config, (*task)->session(), files);
  // The first reads the empty directory at the start, this one is part of the first checkpoint.
  files.FailAt(3, FaultFileSystem::Kind::kOnce);
  const Outcome outcome = Train(config, **task, store.get(), /*stop_at=*/0);
  ASSERT_THAT(outcome.status, IsOk());
  EXPECT_GT(files.operations(), 3);
  EXPECT_EQ(outcome.values, undisturbed.values);
  EXPECT_EQ(*files_.Exists(config.checkpoint_dir + "/model.ckpt-10.index"), false);
  EXPECT_EQ(*files_.Exists(config.checkpoint_dir + "/model.ckpt-40.index"), true);
}

// While `full`, nothing can be written.
class FullDisk : public PosixFileSystem {
 public:
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenWrite(const std::string& path) override {
    if (full) return ErrnoToStatus(ENOSPC, "open", path);
    return PosixFileSystem::OpenWrite(path);
  }
  std::atomic<bool> full = false;
};

// The job ran on for ever after its last step, on a disk that stayed full, and said twice that it
// saved a checkpoint: "save checkpoint: save checkpoint …".
TEST_F(LocalStrategyTest, DiskThatStaysFullEndsTheJobWithTheCauseAndTheCheckpointBefore) {
  TrainerConfig config = MakeConfig(R"("optimizer": {"name": "adam", "learningRate": 0.01})");
  config.batch_size = kBatch;
  config.max_steps = 20;
  config.checkpoint_dir = NewDir();
  config.checkpoint_steps = 10;
  auto task = ModelTask::Make(CpuRuntime(), files_, config);
  ASSERT_THAT(task, IsOk());
  FullDisk files;
  const auto store = OpenStore(config, (*task)->session(), files);
  on_step_ = [&](int64_t step) {
    if (step < 15) return;
    // Of a save that is under way all belongs to the checkpoint before.
    while (!*files_.Exists(config.checkpoint_dir + "/model.ckpt-10.index")) {
      std::this_thread::yield();
    }
    files.full = true;
  };
  limits_.save = std::chrono::milliseconds(50);
  limits_.pause = std::chrono::milliseconds(1);
  const Outcome outcome = Train(config, **task, store.get(), /*stop_at=*/0);
  EXPECT_THAT(outcome.status,
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       testing::AllOf(testing::ContainsRegex(
                                          "^save the last checkpoint, given up after [0-9]+ s: "
                                          "checkpoint /[^ ]*/model.ckpt-20: open /"),
                                      HasSubstr("No space left on device"))));
  EXPECT_EQ(*files_.Exists(config.checkpoint_dir + "/model.ckpt-10.index"), true);
}

TEST_F(LocalStrategyTest, ModelThatDivergesInItsLastStepIsNeitherSavedNorDone) {
  TrainerConfig config = MakeConfig(R"("optimizer": {"name": "adam", "learningRate": 0.01})");
  config.batch_size = kBatch;
  config.max_steps = explodes_at_ = 7;
  const auto diverged = StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr("Model diverged: after step 7 element 2 is NaN in "
                                           "variable hidden1/biases"));
  const Outcome unsaved = Train(config);
  EXPECT_THAT(unsaved.status, diverged);
  EXPECT_EQ(unsaved.board.state, RunState::kTraining);
  config.checkpoint_dir = NewDir();
  // Once: another save may still be on its way at step 6, which then has none.
  config.checkpoint_steps = 6;
  EXPECT_THAT(Train(config).status, diverged);
  EXPECT_EQ(*files_.Exists(config.checkpoint_dir + "/model.ckpt-6.index"), true);
  EXPECT_EQ(*files_.Exists(config.checkpoint_dir + "/model.ckpt-7.index"), false);
}

TEST_F(LocalStrategyTest, ModelThatDivergesBeforeACheckpointKeepsTheOneBefore) {
  TrainerConfig config = MakeConfig(R"("optimizer": {"name": "adam", "learningRate": 0.01})");
  config.batch_size = kBatch;
  config.max_steps = 50;
  config.checkpoint_dir = NewDir();
  config.checkpoint_steps = 3;
  auto task = ModelTask::Make(CpuRuntime(), files_, config);
  ASSERT_THAT(task, IsOk());
  const auto store = OpenStore(config, (*task)->session());
  explodes_at_ = 6;
  EXPECT_THAT(Train(config, **task, store.get(), /*stop_at=*/0).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("Model diverged")));
  Snapshot snapshot = *InitialSnapshot((*task)->session());
  const auto found = store->Load(&snapshot);
  ASSERT_THAT(found, IsOk());
  EXPECT_TRUE(*found);
  EXPECT_EQ(snapshot.step, 3);
}

TEST_F(LocalStrategyTest, CheckpointOfAnotherOptimizerIsRefused) {
  TrainerConfig config = MakeConfig(R"("optimizer": {"name": "adam", "learningRate": 0.1})");
  config.batch_size = kBatch;
  config.max_steps = 3;
  config.checkpoint_dir = NewDir();
  ASSERT_THAT(Train(config).status, IsOk());
  TrainerConfig other = MakeConfig(R"("optimizer": {"name": "momentum", "learningRate": 0.1})");
  other.batch_size = kBatch;
  other.max_steps = 6;
  other.checkpoint_dir = config.checkpoint_dir;
  EXPECT_THAT(Train(other).status,
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("was made with optimizer adam, the job has momentum")));
}

}  // namespace
}  // namespace taas
