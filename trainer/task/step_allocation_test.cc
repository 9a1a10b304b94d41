// A step of training in one process allocates nothing of ours, all from one gradient to the next:
// a batch is gathered and augmented, loss and gradients are computed, averaged over towers, scaled
// back, clipped; variables, slots and moving averages are updated, the step is counted and shown.
// Saves, lines of the log and evaluations are not part of it.

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/testing/allocations.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/strategy/local_strategy.h"
#include "trainer/task/model_task.h"

namespace taas {
namespace {

constexpr int64_t kSteps = 12;
constexpr size_t kWarm = 3;  // Steps in which buffers are made.

struct Case {
  const char* name;
  const char* model;
  const char* data;  // A member of Data.
  const char* more = "";
};

constexpr char kUpdates[] = R"("optimizer": {"name": "momentum", "learningRate": 0.01,
    "lossScale": 64, "clip": {"globalNorm": 0.5}}, "movingAverage": {"decay": 0.9},
    "regularization": {"l1": 0.0001, "l2": 0.001})";

class StepAllocationTest : public testing::TestWithParam<Case> {
 protected:
  StepAllocationTest() : dir_(testing::TempDir()) {}

  void Write(const std::string& name, size_t bytes, uint64_t below) {
    SeededRandom random(bytes);
    std::string text(bytes, '\0');
    for (char& byte : text) byte = static_cast<char>(random.Below(below));
    ASSERT_THAT(files_.WriteAtomically(dir_ + "/" + name, text), IsOk());
  }

  // The object spec.trainer.data, with files of 20 images or of a text.
  std::string Data(const std::string& kind) {
    if (kind == "text") {
      Write("text", 400, 60);
      return R"({"format": "text", "text": {"context": 16}, "train": {"files": [")" + dir_ +
             R"(/text"]}})";
    }
    if (kind == "clicks") {
      return R"({"format": "generated", "generated": {"pattern": "clicks", "examples": 20},
          "columns": [{"name": "age", "type": "numeric"},
                      {"name": "ad", "type": "hashed", "buckets": 50}]})";
    }
    Write("x", 20 * 28 * 28, 256);
    Write("y", 20, 10);
    return R"({"format": "raw", "raw": {"shape": [28, 28, 1]},
        "augment": {"crop": {"padding": 2}, "flip": true},
        "train": {"images": ")" + dir_ + R"(/x", "labels": ")" + dir_ + R"(/y"}})";
  }

  PosixFileSystem files_;
  RealClock clock_;
  const std::string dir_;
};

TEST_P(StepAllocationTest, AStepOfTheLocalLoopAllocatesNothing) {
  const Case& test = GetParam();
  const auto config = ParseTrainerConfig(
      std::string(R"({"batchSize": 3, "maxSteps": )") + std::to_string(kSteps) +
      R"(, "model": )" + test.model + R"(, "data": )" + Data(test.data) + ", " + kUpdates +
      test.more + "}");
  ASSERT_THAT(config, IsOk());
  std::vector<int64_t> seen;
  seen.reserve(kSteps);
  ModelTask::Process process;
  process.after_step = [&] { seen.push_back(Allocations()); };
  const auto task = ModelTask::Make(CpuRuntime(), files_, *config, process);
  ASSERT_THAT(task, IsOk());
  StatusBoard board({});
  const int null = open("/dev/null", O_WRONLY);
  StepLog log(clock_, {.every = kSteps, .batch_size = 3, .max_steps = kSteps, .fd = null});
  StopFlag stop;
  EXPECT_THAT(RunLocal(*config, **task, nullptr, log, {clock_, board, stop}), IsOk());
  close(null);
  ASSERT_EQ(seen.size(), static_cast<size_t>(kSteps));
  EXPECT_GT(seen[0], 0) << "the counter sees nothing";
  for (size_t step = kWarm; step < seen.size(); ++step) {
    EXPECT_EQ(seen[step] - seen[step - 1], 0) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, StepAllocationTest,
    testing::Values(
        Case{"Mlp", R"({"name": "mlp", "hidden": [20]})", "images"},
        Case{"LeNet", R"({"name": "lenet", "hidden": [16], "dropout": 0.1})", "images"},
        Case{"Lstm", R"({"name": "lstm", "hidden": [12]})", "images"},
        Case{"Gpt2", R"({"name": "gpt2", "blocks": 1, "heads": 2, "width": 16})", "text"},
        Case{"WideDeep", R"({"name": "wideDeep", "hidden": [12]})", "clicks"},
        Case{"TwoTowers", R"({"name": "mlp", "hidden": [20]})", "images",
             R"(, "strategy": {"type": "Towers", "towers": 2})"},
        Case{"TwoThreads", R"({"name": "mlp", "hidden": [20]})", "images",
             R"(, "strategy": {"type": "Local"}, "engine": {"intraOpThreads": 2})"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
