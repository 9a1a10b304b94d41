// The models on a GPU that stands for one: the kernels' own source, a driver that runs what it is
// given late, steps that are captured once. They are held against the processor.

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "trainer/cuda/fake/fake_gpu.h"
#include "trainer/testing/every_model.h"

namespace taas {
namespace {

// Convolutions, attention and what else has no kernel for GPUs yet are not among them.
std::vector<ModelCase> GpuCases() {
  std::vector<ModelCase> cases;
  for (const ModelCase& of : EveryModelCase()) {
    if (std::string(of.name) == "Linear" || std::string(of.name) == "Mlp") cases.push_back(of);
  }
  return cases;
}

class GpuModelsTest : public EveryModel {
 protected:
  void OnGpu() {
    runtime_ = [this] { return gpu_.runtime(); };
  }
  const cuda::fake::FakeGpu gpu_;
};

TEST_P(GpuModelsTest, OneProcessTrainsAsOnTheProcessorAndToTheSameBitsAgain) {
  const Losses wanted = InOneProcess(Config(kLocal));
  OnGpu();
  const Losses got = InOneProcess(Config(kLocal));
  ExpectNear(got, wanted, 1e-4);
  EXPECT_EQ(InOneProcess(Config(kLocal)), got);
  EXPECT_GT(gpu_.Calls("cuGraphLaunch"), kModelSteps);
}

TEST_P(GpuModelsTest, TowersTrainAsOnTheProcessor) {
  const Losses wanted = InOneProcess(Config(kTwoTowers, kModelBatch / 2));
  OnGpu();
  ExpectNear(InOneProcess(Config(kTwoTowers, kModelBatch / 2)), wanted, 1e-4);
}

TEST_P(GpuModelsTest, ReplicasTrainThroughParameterServers) {
  const Losses wanted = ByParameterServers(Config(kInStep), 0);
  OnGpu();
  ExpectNear(ByParameterServers(Config(kInStep), 0), wanted, 1e-4);
  ByParameterServers(Config(kOutOfStep), 1);
  ExpectFall(in_time_);
}

TEST_P(GpuModelsTest, NothingIsLeftOnTheGpu) {
  const cuda::fake::FakeCudaLeft before = gpu_.left();
  OnGpu();
  InOneProcess(Config(kLocal));
  EXPECT_EQ(gpu_.left(), before);
}

INSTANTIATE_TEST_SUITE_P(Models, GpuModelsTest, testing::ValuesIn(GpuCases()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace taas
