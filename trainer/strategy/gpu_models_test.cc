// The models on a GPU that stands for one: the kernels' own source, a driver that runs what it is
// given late, steps that are captured once. They are held against the processor.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/fake/fake_gpu.h"
#include "trainer/testing/every_model.h"
#include "trainer/testing/local_training.h"

namespace taas {
namespace {

// Of few examples the moments make large differences of small ones, and it takes its time.
std::vector<ModelCase> CasesWithoutMoments() {
  std::vector<ModelCase> cases = EveryModelCase();
  std::erase_if(cases, [](const ModelCase& of) { return of.normalizes_batches; });
  return cases;
}

std::vector<ModelCase> CasesWithConvolutions() {
  std::vector<ModelCase> cases = EveryModelCase();
  std::erase_if(cases, [](const ModelCase& of) {
    const std::string name = of.name;
    return name != "LeNet" && name != "ResNet20";
  });
  return cases;
}

class GpuModelsTest : public EveryModel {
 protected:
  void OnGpu() {
    runtime_ = [this] { return gpu_.runtime(); };
  }
  // With moments the first twelve steps count: what sums in another order, as a processor with AVX2
  // alone, changes in the last bits is 4e-3 of the fifteenth's loss.
  static void ExpectTwins(const Losses& got, const Losses& wanted) {
    if (!GetParam().normalizes_batches) {
      ExpectNear(got, wanted, 1e-4);
      return;
    }
    Losses first;
    for (int64_t batch = 0; batch < 12; ++batch) first[batch] = wanted.at(batch);
    ExpectNear(got, first, 1e-3);
  }
  cuda::fake::FakeGpu gpu_;
};

TEST_P(GpuModelsTest, OneProcessTrainsAsOnTheProcessorAndToTheSameBitsAgain) {
  const Losses wanted = InOneProcess(Config(kLocal));
  OnGpu();
  const Losses got = InOneProcess(Config(kLocal));
  ExpectTwins(got, wanted);
  EXPECT_EQ(InOneProcess(Config(kLocal)), got);
  EXPECT_GT(gpu_.Calls("cuGraphLaunch"), kModelSteps);
}

std::vector<ModelCase> CasesWithAttention() {
  std::vector<ModelCase> cases = EveryModelCase();
  std::erase_if(cases, [](const ModelCase& of) { return std::string(of.name) != "Gpt2"; });
  return cases;
}

// Both round factors of products to 8 bits; cuDNN's attention also its results.
class GpuBFloat16Test : public GpuModelsTest {
 protected:
  static constexpr double kRounding = 2e-2;
  const cuda::fake::FakeGpu without_{cuda::fake::kH100, 1, {.library = cuda::fake::kNccl},
                                     {.library = cuda::fake::kNoCudnn}};
};

TEST_P(GpuBFloat16Test, TwentyStepsAreThoseOfTheProcessorWithCudnnsAttentionAndWithout) {
  TrainerConfig config = Config(kLocal);
  config.engine.precision = "bfloat16";
  config.max_steps = 20;
  const Losses wanted = InOneProcess(config);
  runtime_ = [this] { return without_.runtime(); };
  gpu_.FailAt("cudnnBackendExecute", 0, 0);
  const Losses by_products = InOneProcess(config);
  EXPECT_EQ(gpu_.Calls("cudnnBackendExecute"), 0);
  ExpectNear(by_products, wanted, kRounding);
  OnGpu();
  const Losses got = InOneProcess(config);
  // Forwards and backwards; the first step as it is, the second captured.
  EXPECT_GE(gpu_.Calls("cudnnBackendExecute"), 2 * 2);
  ExpectNear(got, wanted, kRounding);
  EXPECT_NE(got, by_products);
  EXPECT_EQ(InOneProcess(config), got) << "the same bits again";
}

TEST_P(GpuBFloat16Test, InFloatsAttentionIsProductsAlsoWhereCudnnIs) {
  OnGpu();
  gpu_.FailAt("cudnnCreate", 0, 0);
  TrainerConfig config = Config(kLocal);
  config.max_steps = 3;
  InOneProcess(config);
  EXPECT_EQ(gpu_.Calls("cudnnCreate"), 0);
}

// With convolutions as products of patches.
class GpuWithoutCudnnTest : public GpuModelsTest {
 protected:
  const cuda::fake::FakeGpu without_{cuda::fake::kH100, 1, {.library = cuda::fake::kNccl},
                                     {.library = cuda::fake::kNoCudnn}};
  // Of this process, whose other tests have one.
  GpuWithoutCudnnTest() { gpu_.FailAt("cudnnCreate", 0, 0); }
};

TEST_P(GpuWithoutCudnnTest, ConvolutionsAreThoseOfTheProcessorAllTheSame) {
  const Losses wanted = InOneProcess(Config(kLocal));
  runtime_ = [this] { return without_.runtime(); };
  const Losses got = InOneProcess(Config(kLocal));
  EXPECT_EQ(gpu_.Calls("cudnnCreate"), 0);
  ExpectTwins(got, wanted);
  // With it: the same steps by other sums.
  OnGpu();
  TrainerConfig few = Config(kLocal);
  few.max_steps = 3;
  InOneProcess(few);
  EXPECT_EQ(gpu_.Calls("cudnnCreate"), 1);
}

class GpuStrategiesTest : public GpuModelsTest {};

TEST_P(GpuStrategiesTest, TowersTrainAsOnTheProcessor) {
  const Losses wanted = InOneProcess(Config(kTwoTowers, kModelBatch / 2));
  OnGpu();
  ExpectNear(InOneProcess(Config(kTwoTowers, kModelBatch / 2)), wanted, 1e-4);
}

TEST_P(GpuStrategiesTest, ReplicasTrainThroughParameterServers) {
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
  cuda::fake::FakeCudaLeft after = gpu_.left();
  // Plans of convolutions are the device's, and go with it.
  after.handles = after.descriptors = 0;
  EXPECT_EQ(after, before);
  gpu_.Close();
  EXPECT_EQ(gpu_.left(), cuda::fake::FakeCudaLeft{});
}

// Kernels and products that the driver runs in a step: a table that is held fast, of models with as
// many layers as those of their names have (Gpt2: the small one).
const std::map<std::string, int> kStepLaunches = {
    {"Linear", 7},     {"Layers", 28}, {"Mlp", 12},   {"LeNet", 33},
    {"ResNet20", 321}, {"Lstm", 64},   {"Gpt2", 523}, {"WideDeep", 40}};

TEST_P(GpuModelsTest, AStepHasSoManyLaunches) {
  TrainerConfig config = Config(kLocal);
  if (std::string(GetParam().name) == "Gpt2") {
    config.model = R"({"name": "gpt2", "blocks": 12, "heads": 2, "width": 16})";
  }
  OnGpu();
  const auto launches = [&](int64_t steps) {
    config.max_steps = steps;
    const int before = gpu_.Calls("kernel") + gpu_.Calls("library");
    InOneProcess(config);
    return gpu_.Calls("kernel") + gpu_.Calls("library") - before;
  };
  // Evaluations, and what is made ready at first, are alike.
  const int few = launches(3);
  EXPECT_EQ((launches(5) - few) / 2, kStepLaunches.at(GetParam().name));
}

class GpuStepsTest : public LocalTraining {
 protected:
  GpuStepsTest() {
    runtime_ = [this] { return gpu_.runtime(); };
  }
  const cuda::fake::FakeGpu gpu_;
};

TEST_F(GpuStepsTest, AStepIsOneLaunchAndOneWaitAndAllocatesNothing) {
  // Calls of the driver's functions by the time a step is logged.
  std::map<std::string, std::vector<int>> calls;
  on_step_ = [&](int64_t) {
    for (const char* const name :
         {"cuMemAlloc", "cuMemHostAlloc", "cuStreamCreate", "cuEventCreate", "cuLaunchKernel",
          "cuGraphLaunch", "cuStreamSynchronize", "cuEventSynchronize"}) {
      calls[name].push_back(gpu_.Calls(name));
    }
  };
  const Outcome outcome = Train(MakeConfig(R"("maxSteps": 20, "logSteps": 1,
      "optimizer": {"name": "adam", "learningRate": 0.01, "clip": {"globalNorm": 1}})"));
  EXPECT_THAT(outcome.status, IsOk());
  for (const auto& [name, counts] : calls) {
    ASSERT_EQ(counts.size(), 20u);
    // The first is run as it is, the second captured.
    const bool once = name == "cuGraphLaunch" || name == "cuEventSynchronize";
    // Behind the last no other is launched.
    for (size_t step = 3; step + 1 < counts.size(); ++step) {
      EXPECT_EQ(counts[step] - counts[step - 1], once) << name << ", " << step;
    }
  }
}

class GpuBiasTest : public LocalTraining {};

// 784-500-10, by a cuBLASLt that adds a bias and sums up its gradient within a product, and by one
// that does not: the bias of the last layer, whose sum no Relu follows, and both gradients.
TEST_F(GpuBiasTest, WhatBelongsToABiasIsNoLaunchOfItsOwnWhereTheLibraryCan) {
  TrainerConfig config = MakeConfig(R"("model": {"name": "mlp", "hidden": [500]}, "batchSize": 10,
      "data": {"format": "generated", "generated":
        {"examples": 100, "testExamples": 10, "features": 784, "classes": 10}})");
  Tensors values[2];
  for (const bool can : {false, true}) {
    const cuda::fake::FakeGpu gpu(cuda::fake::kH100 + std::string(can ? "" : "epilogues 0\n"));
    runtime_ = [&] { return gpu.runtime(); };
    const auto launches = [&](int64_t steps) {
      config.max_steps = steps;
      const int before = gpu.Calls("kernel") + gpu.Calls("library");
      const Outcome outcome = Train(config);
      EXPECT_THAT(outcome.status, IsOk());
      values[can] = outcome.values;
      return gpu.Calls("kernel") + gpu.Calls("library") - before;
    };
    const int few = launches(3);
    EXPECT_EQ((launches(5) - few) / 2, can ? 12 : 15);
  }
  ASSERT_EQ(values[1].size(), values[0].size());
  for (size_t i = 0; i < values[0].size(); ++i) {
    for (size_t j = 0; j < values[0][i].size(); ++j) {
      ASSERT_NEAR(values[1][i][j], values[0][i][j], 1e-5);
    }
  }
}

std::string NameOf(const testing::TestParamInfo<ModelCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Models, GpuModelsTest, testing::ValuesIn(EveryModelCase()), NameOf);
INSTANTIATE_TEST_SUITE_P(Models, GpuBFloat16Test, testing::ValuesIn(CasesWithAttention()), NameOf);
INSTANTIATE_TEST_SUITE_P(Models, GpuWithoutCudnnTest,
                         testing::ValuesIn(CasesWithConvolutions()), NameOf);
INSTANTIATE_TEST_SUITE_P(Models, GpuStrategiesTest, testing::ValuesIn(CasesWithoutMoments()),
                         NameOf);

}  // namespace
}  // namespace taas
