#include "trainer/strategy/local_strategy.h"

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/task/model_task.h"
#include "trainer/task/model_update.h"
#include "trainer/testing/far_device.h"
#include "trainer/testing/local_training.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kBatch = 12;

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(file), {});
  EXPECT_FALSE(content.empty()) << path;
  return content;
}

class LocalStrategyTest : public LocalTraining {};

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

class UpdateTest : public LocalTraining, public testing::WithParamInterface<UpdateCase> {};

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
    runtime_ = far ? FarRuntime : CpuRuntime;
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

// A checkpoint of step n is made while a far device could have begun the next.
TEST_F(LocalStrategyTest, ACutOfEachStepOnAFarDeviceIsThatOfTheProcessor) {
  TrainerConfig config = MakeConfig(R"("optimizer": {"name": "adam", "learningRate": 0.01})");
  config.batch_size = kBatch;
  // The first is run as it is, the second recorded.
  for (int64_t step = 1; step <= 4; ++step) {
    std::string cuts[2];
    for (const bool far : {false, true}) {
      runtime_ = far ? FarRuntime : CpuRuntime;
      config.checkpoint_dir = NewDir();
      config.checkpoint_steps = step;
      config.max_steps = step + 2;
      ASSERT_THAT(Train(config).status, IsOk());
      for (const char* const file : {".data-00000-of-00001", ".index"}) {
        cuts[far] += ContentOf(config.checkpoint_dir + "/model.ckpt-" + std::to_string(step) +
                               file);
      }
    }
    EXPECT_EQ(cuts[1], cuts[0]) << "step " << step;
  }
}

// Such as a summary, of the values after a step.
TEST_F(LocalStrategyTest, WhoLooksAtAStepSeesWhatItLeavesAlsoOnAFarDevice) {
  TrainerConfig config = MakeConfig(R"("optimizer": {"name": "adam", "learningRate": 0.01})");
  config.batch_size = kBatch;
  config.max_steps = 20;
  std::vector<Tensors> seen[2];
  std::vector<std::optional<double>> accuracies[2];
  for (const bool far : {false, true}) {
    runtime_ = far ? FarRuntime : CpuRuntime;
    auto task = ModelTask::Make(runtime_(), files_, config);
    ASSERT_THAT(task, IsOk());
    looks_at_ = [](int64_t step) { return step == 1 || step % 5 == 0; };
    on_step_ = [&](int64_t step) {
      if (!looks_at_(step)) return;
      seen[far].push_back(Copies(VariablesOf((*task)->session())));
      accuracies[far].push_back((*task)->BatchAccuracy());
    };
    ASSERT_THAT(Train(config, **task, nullptr, 0).status, IsOk());
    on_step_ = [](int64_t) {};
  }
  ASSERT_EQ(seen[0].size(), 5u);
  EXPECT_EQ(seen[1], seen[0]);
  EXPECT_EQ(accuracies[1], accuracies[0]);
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

// Of a learning rate that is far too high.
TEST_F(LocalStrategyTest, ALossThatIsNoNumberEndsItBeforeTheUpdateOfItsStep) {
  TrainerConfig config = MakeConfig(R"("optimizer": {"name": "sgd", "learningRate": 1e6})");
  config.strategy = StrategyType::kLocal;
  config.checkpoint_dir = NewDir();
  config.max_steps = 20;
  std::string messages[2];
  Tensors values[2];
  for (const bool far : {false, true}) {
    runtime_ = far ? FarRuntime : CpuRuntime;
    const Outcome outcome = Train(config);
    values[far] = outcome.values;
    messages[far] = std::string(outcome.status.message());
    EXPECT_THAT(messages[far], HasSubstr("Model diverged with loss = "));
    const size_t step = outcome.trained.size();
    EXPECT_THAT(messages[far], HasSubstr("at step " + std::to_string(step) + ", in batch " +
                                         std::to_string(step - 1)));
  }
  EXPECT_EQ(messages[1], messages[0]);
  EXPECT_EQ(values[1], values[0]);
}

}  // namespace
}  // namespace taas
