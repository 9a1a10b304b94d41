// What is planned of a device's memory against what it is asked for, for models of each kind: alone
// and by towers, on the processor, on a far device, and on a GPU that stands for one.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/fake/fake_gpu.h"
#include "trainer/graph/memory_uses.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/task/model_task.h"
#include "trainer/task/model_update.h"
#include "trainer/testing/counting_device.h"
#include "trainer/testing/every_model.h"
#include "trainer/testing/far_device.h"

namespace taas {
namespace {

using testing::ContainsRegex;

class DeviceMemoryTest : public EveryModel {
 protected:
  // After some steps, of which the first are made ready and recorded.
  static MemoryUses UsesOf(const Runtime& runtime, const TrainerConfig& config,
                           std::unique_ptr<ModelTask>* task,
                           std::unique_ptr<ModelUpdate>* update) {
    PosixFileSystem files;
    auto made = ModelTask::Make(runtime, files, config);
    EXPECT_THAT(made, IsOk());
    *task = *std::move(made);
    const auto optimizer = *Optimizer::Parse(config.optimizer);
    EXPECT_THAT((*task)->session().InitializeVariables(1), IsOk());
    *update = *ModelUpdate::Make(*optimizer, (*task)->session());
    const MemoryUses uses = (*task)->memory_uses();
    for (int64_t step = 1; step <= 4; ++step) {
      (*update)->Prepare(step);
      std::vector<int64_t> batches;
      for (int64_t i = 0; i < (*task)->batches_per_step(); ++i) batches.push_back(i);
      EXPECT_THAT((*task)->ComputeGradients(batches), IsOk());
      EXPECT_THAT((*update)->Apply(), IsOk());
    }
    EXPECT_EQ((*task)->memory_uses(), uses);
    return uses;
  }
};

void ExpectWithin1Percent(size_t asked, size_t planned, const std::string& what) {
  EXPECT_LE(asked, planned + planned / 100) << what;
  EXPECT_LE(planned, asked + asked / 100) << what;
}

TEST_P(DeviceMemoryTest, PlannedIsWhatTheDeviceIsAskedFor) {
  for (Device* const device : {CpuRuntime().devices[0], &FarDevice()}) {
    for (const char* const strategy : {kLocal, kTwoTowers}) {
      CountingDevice counting(*device);
      std::unique_ptr<ModelTask> task;
      std::unique_ptr<ModelUpdate> update;
      const MemoryUses uses =
          UsesOf({{&counting}, CpuRuntime().kernels}, Config(strategy), &task, &update);
      const std::string what = device->name() + ", " + strategy;
      ExpectWithin1Percent(counting.asked(MemoryKind::kDevice), uses.of_device(), what);
      ExpectWithin1Percent(counting.asked(MemoryKind::kPinned), uses[MemoryUse::kPinned], what);
      EXPECT_GT(uses[MemoryUse::kVariables], 0u);
      EXPECT_GT(uses[MemoryUse::kActivations], 0u);
    }
  }
}

TEST_P(DeviceMemoryTest, OnAGpuTheLineTellsTheRestOfItsMemoryBeside) {
  const cuda::fake::FakeGpu gpu;
  const MemoryLevel before = *gpu.device().memory_level();
  std::unique_ptr<ModelTask> task;
  std::unique_ptr<ModelUpdate> update;
  TrainerConfig config = Config(kLocal);
  // A plan of cuDNN's attention has workspace of its own.
  if (std::string(GetParam().name) == "Gpt2") config.engine.precision = "bfloat16";
  const MemoryUses uses = UsesOf(gpu.runtime(), config, &task, &update);
  const MemoryLevel after = *gpu.device().memory_level();
  ExpectWithin1Percent(before.free - after.free, uses.of_device(), "of a GPU");
  testing::internal::CaptureStderr();
  LogUses(uses, gpu.device());
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              ContainsRegex("memory of the training: .*B planned.* variables=.*context=\"?0 B\"? "
                            "libraries=.*free=\"?85.9 GB"));
}

INSTANTIATE_TEST_SUITE_P(Models, DeviceMemoryTest, testing::ValuesIn(EveryModelCase()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
