// What a training in one process keeps: checkpoints, and when there is none.

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fault_file_system.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"
#include "trainer/checkpoint/bundle_reader.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/strategy/local_strategy.h"
#include "trainer/task/model_task.h"
#include "trainer/testing/failing_device.h"
#include "trainer/testing/local_training.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kBatch = 12;

class LocalCheckpointsTest : public LocalTraining {};

// Some variables are of the step that failed, and some of the one before: a restart begins with
// the checkpoint that there was.
TEST_F(LocalCheckpointsTest, AfterAStepThatFailedOnTheDeviceNothingIsSaved) {
  const std::function<void(FailingDevice&, Session&)> failures[] = {
      // In the update, before its end, and after it, when the host looks what became of it.
      [](FailingDevice& device, Session& session) {
        device.fails_writing = session.model().trained_values().data();
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

// The evaluator evaluated a model of zeros.
TEST_F(LocalCheckpointsTest, AveragesInTheCheckpointOfAnUntrainedModelAreItsVariables) {
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

TEST_F(LocalCheckpointsTest, CheckpointHasTensorFlowsNames) {
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

TEST_F(LocalCheckpointsTest, DiskThatFailsOnceCostsACheckpointAndNoStep) {
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
TEST_F(LocalCheckpointsTest, DiskThatStaysFullEndsTheJobWithTheCauseAndTheCheckpointBefore) {
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

TEST_F(LocalCheckpointsTest, ModelThatDivergesInItsLastStepIsNeitherSavedNorDone) {
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

TEST_F(LocalCheckpointsTest, ModelThatDivergesBeforeACheckpointKeepsTheOneBefore) {
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

TEST_F(LocalCheckpointsTest, CheckpointOfAnotherOptimizerIsRefused) {
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
