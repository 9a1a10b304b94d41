// Trainings by towers on two and four GPUs, which stand for some, and by the processor's towers.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/fake/fake_gpu.h"
#include "trainer/cuda/nccl_api.h"
#include "trainer/graph/machine_fault.h"
#include "trainer/testing/every_model.h"
#include "trainer/testing/local_training.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using cuda::fake::FakeCudaLeft;
using cuda::fake::FakeGpu;

std::string Machine(int devices) {
  std::string lines;
  for (int i = 0; i < devices; ++i) lines += cuda::fake::kH100;
  return lines;
}

std::string TowersOf(int towers) {
  return R"({"type": "Towers", "towers": )" + std::to_string(towers) + "}";
}

class GpuTowersTest : public EveryModel {
 protected:
  TrainerConfig ConfigOf(int towers) {
    TrainerConfig config = Config(TowersOf(towers), kModelBatch / towers);
    config.max_steps = 20;
    return config;
  }
};

TEST_P(GpuTowersTest, TrainAsThoseOfTheProcessorAndToTheSameBitsAgain) {
  for (const int towers : {2, 4}) {
    runtime_ = CpuRuntime;
    const Losses wanted = InOneProcess(ConfigOf(towers));
    const FakeGpu gpu(Machine(towers), towers);
    runtime_ = [&] { return gpu.runtime(); };
    const FakeCudaLeft before = gpu.left();
    const Losses got = InOneProcess(ConfigOf(towers));
    ExpectNear(got, wanted, 1e-4);
    FakeCudaLeft after = gpu.left();
    // Plans of convolutions are the device's, and go with it.
    after.handles = after.descriptors = 0;
    EXPECT_EQ(after, before);
    if (towers == 2) {
      EXPECT_EQ(InOneProcess(ConfigOf(towers)), got);
    }
  }
}

std::vector<ModelCase> Cases() {
  std::vector<ModelCase> cases = EveryModelCase();
  // Its moments make large differences of small ones; they have a test of their own below.
  std::erase_if(cases, [](const ModelCase& of) { return of.normalizes_batches; });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Models, GpuTowersTest, testing::ValuesIn(Cases()),
                         [](const auto& info) { return std::string(info.param.name); });

class GpuTowersStepsTest : public LocalTraining {
 protected:
  static constexpr int kTowers = 2;
  GpuTowersStepsTest() { runtime_ = [this] { return gpu_.runtime(); }; }

  static TrainerConfig ConfigOf(const std::string& more) {
    return MakeConfig(R"("batchSize": 8, "strategy": )" + TowersOf(kTowers) + ", " + more);
  }
  static Tensors StateOf(Session& session) {
    std::vector<TensorRef> all;
    for (size_t i = 0; i < session.variables().size(); ++i) {
      all.push_back(session.variable(i));
      for (size_t slot = 0; slot < session.model().slots(); ++slot) {
        all.push_back(session.model().slot(slot, i));
      }
    }
    return Copies(all);
  }
  // Trains it, and expects the same model on all GPUs.
  Outcome TrainOn(const TrainerConfig& config, int64_t stop_at = 0) {
    auto task = ModelTask::Make(runtime_(), files_, config);
    EXPECT_THAT(task, IsOk());
    EXPECT_EQ((*task)->copies().size(), static_cast<size_t>(kTowers));
    const auto store = OpenStore(config, (*task)->session());
    Outcome outcome = Train(config, **task, store.get(), stop_at);
    if (outcome.status.ok()) {
      for (Session* const copy : (*task)->copies()) {
        EXPECT_EQ(StateOf(*copy), StateOf((*task)->session()));
      }
    }
    return outcome;
  }

  const FakeGpu gpu_{Machine(kTowers), kTowers};
};

void ExpectClose(const Tensors& got, const Tensors& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(got[i].size(), wanted[i].size());
    for (size_t j = 0; j < wanted[i].size(); ++j) EXPECT_NEAR(got[i][j], wanted[i][j], 1e-4);
  }
}

TEST_F(GpuTowersStepsTest, AllGpusHaveTheSameModelAtTheEnd) {
  for (const char* const more :
       {R"("maxSteps": 20, "movingAverage": {"decay": 0.9},
           "optimizer": {"name": "adam", "learningRate": 0.01, "clip": {"globalNorm": 1}})",
        R"("maxSteps": 20,
           "optimizer": {"name": "momentum", "learningRate": 0.1, "lossScale": 64})",
        R"("maxSteps": 20, "model": {"name": "layers", "layers": [
             {"type": "dense", "units": 6, "activation": "relu"},
             {"type": "batchNorm", "decay": 0.9}, {"type": "dropout", "rate": 0.3}]})"}) {
    const Outcome got = TrainOn(ConfigOf(more));
    EXPECT_THAT(got.status, IsOk());
    runtime_ = CpuRuntime;
    const Outcome wanted = Train(ConfigOf(more));
    runtime_ = [this] { return gpu_.runtime(); };
    ExpectClose(got.values, wanted.values);
    ExpectClose(got.evaluated, wanted.evaluated);
    EXPECT_EQ(got.trained, wanted.trained);
  }
}

TEST_F(GpuTowersStepsTest, AStepIsOneLaunchOfEachGpuAndAllocatesNothing) {
  std::map<std::string, std::vector<int>> calls;
  on_step_ = [&](int64_t) {
    for (const char* const name :
         {"cuMemAlloc", "cuMemHostAlloc", "cuStreamCreate", "cuEventCreate", "cuLaunchKernel",
          "cuGraphLaunch", "cuEventSynchronize", "ncclAllReduce", "ncclGroupStart"}) {
      calls[name].push_back(gpu_.Calls(name));
    }
  };
  const Outcome outcome = TrainOn(ConfigOf(R"("maxSteps": 10, "logSteps": 1,
      "optimizer": {"name": "adam", "learningRate": 0.01, "clip": {"globalNorm": 1}})"));
  EXPECT_THAT(outcome.status, IsOk());
  for (const auto& [name, counts] : calls) {
    ASSERT_EQ(counts.size(), 10u);
    // The first is run as it is, the second captured. Behind the last no other is launched.
    for (size_t step = 3; step + 1 < counts.size(); ++step) {
      // For the step before the host waits once for each GPU.
      const bool once = name == "cuGraphLaunch" || name == "cuEventSynchronize";
      EXPECT_EQ(counts[step] - counts[step - 1], once ? kTowers : 0) << name << ", " << step;
    }
  }
}

// The next is launched before anybody has read its loss.
TEST_F(GpuTowersStepsTest, ATrainingThatDivergesNamesTheStepThatDid) {
  int64_t last = 0;
  on_step_ = [&](int64_t step) { last = step; };
  const Outcome outcome = TrainOn(ConfigOf(R"("maxSteps": 20, "logSteps": 1,
      "optimizer": {"name": "sgd", "learningRate": 1e6})"));
  EXPECT_THAT(outcome.status, StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("at step " + std::to_string(last + 1) + ", ")));
  EXPECT_EQ(std::ssize(outcome.trained), kTowers * (last + 1));
  EXPECT_GT(last, 0);
}

TEST_F(GpuTowersStepsTest, ATrainingThatIsStoppedGoesOnFromItsCheckpointOnAllGpus) {
  const std::string fields = R"("maxSteps": 14, "optimizer": {"name": "adam",
      "learningRate": 0.01}, "checkpoint": {"everySteps": 3, "dir": ")";
  const Outcome whole = TrainOn(ConfigOf(fields + NewDir() + R"("})"));
  EXPECT_THAT(whole.status, IsOk());
  const TrainerConfig config = ConfigOf(fields + NewDir() + R"("})");
  EXPECT_THAT(TrainOn(config, /*stop_at=*/7).status, StatusIs(absl::StatusCode::kCancelled));
  const Outcome rest = TrainOn(config);
  EXPECT_THAT(rest.status, IsOk());
  EXPECT_EQ(rest.values, whole.values);
  // On one GPU, whose towers share it, they go on as well.
  const TrainerConfig shared = ConfigOf(fields + NewDir() + R"("})");
  EXPECT_THAT(TrainOn(shared, /*stop_at=*/7).status, StatusIs(absl::StatusCode::kCancelled));
  runtime_ = CpuRuntime;
  const Outcome near = Train(shared);
  EXPECT_THAT(near.status, IsOk());
  ExpectClose(near.values, whole.values);
}

TEST_F(GpuTowersStepsTest, ACallOfNcclThatFailsInATrainingIsTheMachinesFault) {
  for (const char* const function : {"ncclGroupStart", "ncclAllReduce", "ncclGroupEnd"}) {
    // The first step is run as it is, the second captured.
    for (const int nth : {1, 4}) {
      const FakeGpu gpu(Machine(kTowers), kTowers);
      runtime_ = [&] { return gpu.runtime(); };
      gpu.FailAt(function, nth, cuda::kNcclSystemError);
      const absl::Status status = TrainOn(ConfigOf(R"("maxSteps": 5)")).status;
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable,
                                   AllOf(HasSubstr("GPU "), HasSubstr("NCCL: "))))
          << function << " " << nth;
      EXPECT_TRUE(IsMachineFault(status));
      gpu.FailAt(function, 0, 0);
    }
  }
}

}  // namespace
}  // namespace taas
