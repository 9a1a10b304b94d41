#include "trainer/kernels/cpu/update_kernels.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/gradient_rows.h"
#include "trainer/graph/step_block.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/optimizer/update_ops.h"

namespace taas {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using Floats = std::vector<float>;

constexpr int64_t kRows = 9, kWidth = 5;
const TensorType kTable{DType::kFloat32, Shape({kRows, kWidth})};

// A variable with all that an update needs.
struct Arrays {
  Arrays(const Optimizer& optimizer, bool listed) {
    SeededRandom random(5);
    const auto fill = [&](Floats* floats, double least) {
      floats->resize(kRows * kWidth);
      for (float& x : *floats) x = static_cast<float>(random.Unit() + least);
    };
    fill(&value, -0.5);
    slots.resize(optimizer.slots().size());
    for (Floats& slot : slots) fill(&slot, 0.1);
    gradient.assign(kRows * kWidth, 0);
    if (listed) ids = {1, 2, 7};
    for (int64_t row = 0; row < kRows; ++row) {
      if (listed && row != 1 && row != 2 && row != 7) continue;
      for (int64_t i = 0; i < kWidth; ++i) {
        gradient[static_cast<size_t>(row * kWidth + i)] = static_cast<float>(random.Unit() - 0.5);
      }
    }
  }
  std::optional<GradientRows> rows() const {
    if (ids.empty()) return std::nullopt;
    return GradientRows{.width = kWidth, .ids = ids};
  }

  Floats gradient, value;
  std::vector<Floats> slots;
  std::vector<int32_t> ids;  // None: all rows.
};

// Also of what is no number: means that are random make some roots negative.
std::vector<uint32_t> BitsOf(const Arrays& arrays) {
  std::vector<uint32_t> bits;
  for (const float x : arrays.value) bits.push_back(std::bit_cast<uint32_t>(x));
  for (const Floats& slot : arrays.slots) {
    for (const float x : slot) bits.push_back(std::bit_cast<uint32_t>(x));
  }
  return bits;
}

void ByKernel(const Optimizer& optimizer, int64_t step, int threads, Arrays* arrays) {
  const Attributes attributes = optimizer.update_attributes();
  const auto kernel = MakeKernel(CpuRuntime(), optimizer.update_op(),
                                 {.attributes = attributes,
                                  .inputs = {&kTable, 1},
                                  .outputs = {&kTable, 1}});
  ASSERT_THAT(kernel, IsOk());
  StepBlock block{.update = optimizer.scalars(step)};
  const auto count = static_cast<int32_t>(arrays->ids.size());
  std::vector<const void*> in = {arrays->gradient.data(), arrays->value.data()};
  std::vector<void*> out = {arrays->value.data()};
  for (Floats& slot : arrays->slots) {
    in.push_back(slot.data());
    out.push_back(slot.data());
  }
  in.push_back(arrays->ids.empty() ? nullptr : arrays->ids.data());
  in.push_back(&count);
  ASSERT_THAT(kernel->kernel.run(
                  {.inputs = in, .outputs = out, .threads = threads, .block = &block}),
              IsOk());
}

void ByOptimizer(const Optimizer& optimizer, int64_t step, Arrays* arrays) {
  const std::vector<std::span<const float>> in(arrays->slots.begin(), arrays->slots.end());
  const std::vector<std::span<float>> out(arrays->slots.begin(), arrays->slots.end());
  optimizer.Apply({.gradient = arrays->gradient,
                   .in = arrays->value,
                   .out = arrays->value,
                   .slots_in = in,
                   .slots_out = out,
                   .step = step,
                   .rows = arrays->rows()});
}

class UpdateKernelsTest : public testing::TestWithParam<const char*> {};

TEST_P(UpdateKernelsTest, DoesToTheBitWhatTheOptimizerDoes) {
  const auto optimizer = Optimizer::Parse(GetParam());
  ASSERT_THAT(optimizer, IsOk());
  const Optimizer& rule = **optimizer;
  for (const int64_t step : {1, 2, 3}) {
    for (const bool listed : {false, true}) {
      const Arrays before(rule, listed);
      Arrays wanted = before;
      ByOptimizer(rule, step, &wanted);
      for (const int threads : {1, 2}) {
        Arrays got = before;
        ByKernel(rule, step, threads, &got);
        EXPECT_EQ(BitsOf(got), BitsOf(wanted)) << "step " << step << (listed ? ", rows" : "");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, UpdateKernelsTest,
    testing::Values(
        R"({"name": "sgd", "learningRate": 0.1})",
        R"({"name": "sgd", "learningRate": 0.1, "movingAverage": {"decay": 0.9}})",
        R"({"name": "momentum", "learningRate": 0.1})",
        R"({"name": "momentum", "learningRate": 0.1, "nesterov": true})",
        R"({"name": "adam", "learningRate": 0.1, "beta1": 0.8, "epsilon": 0.01})",
        R"({"name": "adamw", "learningRate": 0.1, "weightDecay": 0.3,
            "movingAverage": {"decay": 0.5}})",
        R"({"name": "adagrad", "learningRate": 0.1})",
        R"({"name": "rmsprop", "learningRate": 0.1, "momentum": 0.3})",
        R"({"name": "rmsprop", "learningRate": 0.1, "centered": true})",
        R"({"name": "ftrl", "learningRate": 0.1, "l1": 0.01, "l2": 0.02})",
        R"({"name": "ftrl", "learningRate": 0.1, "learningRatePower": -0.7})",
        // Its rate is 0 in the first step.
        R"({"name": "ftrl", "learningRate": 0.1, "warmup": {"steps": 2}})"));

// Of a whole gradient and one that lists row 1: divided by 4, and brought to a norm of 1.
TEST(FinishGradientsTest, DividesOutTheScaleAndThenClips) {
  const std::vector<TensorType> types = {{DType::kFloat32, Shape({2})},
                                         {DType::kFloat32, Shape({3, 2})}};
  for (const std::string clip : {"", "value", "norm"}) {
    const Attributes attributes{{"loss_scale", 4.0}, {"clip", clip}, {"clip_limit", 1.0}};
    const auto kernel = MakeKernel(
        CpuRuntime(), kFinishGradients,
        {.attributes = attributes, .inputs = types, .outputs = types});
    ASSERT_THAT(kernel, IsOk());
    Floats whole = {8, 0}, table = {64, 64, 0, 8, 64, 64};
    const int32_t id = 1, count = 1;
    const void* const in[] = {whole.data(), nullptr, nullptr, table.data(), &id, &count};
    void* const out[] = {whole.data(), table.data()};
    ASSERT_THAT(kernel->kernel.run({.inputs = in, .outputs = out}), IsOk());
    // By 4: {2, 0} and {0, 2}, whose norm is the root of 8.
    const float two = clip.empty() ? 2 : clip == "value" ? 1 : 2 / std::sqrt(8.0f);
    EXPECT_THAT(whole, ElementsAre(testing::FloatEq(two), 0)) << clip;
    EXPECT_THAT(table, ElementsAre(64, 64, 0, testing::FloatEq(two), 64, 64)) << clip;
  }
}

TEST(MeanGradientsTest, IsThatOfAllTowersInTheRowsThatAreListed) {
  const std::vector<TensorType> types(3, {DType::kFloat32, Shape({3, 2})});
  const auto kernel = MakeKernel(
      CpuRuntime(), kMeanGradients,
      {.attributes = {}, .inputs = types, .outputs = std::span(types).first(1)});
  ASSERT_THAT(kernel, IsOk());
  const Floats a = {3, 6, 9, 12, 15, 18}, b(6, 3), c(6, 0);
  const int32_t ids[] = {0, 2}, count = 2;
  for (const bool listed : {false, true}) {
    Floats mean(6, 77);
    const void* const in[] = {a.data(), b.data(), c.data(), listed ? ids : nullptr, &count};
    void* const out[] = {mean.data()};
    ASSERT_THAT(kernel->kernel.run({.inputs = in, .outputs = out}), IsOk());
    const float third = listed ? 77 : 4, fourth = listed ? 77 : 5;
    EXPECT_THAT(mean, ElementsAreArray({2.0f, 3.0f, third, fourth, 6.0f, 7.0f}));
  }
}

TEST(LossUnlessFaultTest, IsNoNumberInAStepThatHasAFault) {
  const std::vector<TensorType> types(1);
  const auto kernel = MakeKernel(CpuRuntime(), kLossUnlessFault,
                                 {.attributes = {}, .inputs = types, .outputs = types});
  ASSERT_THAT(kernel, IsOk());
  const float loss = 2;
  float told = 0;
  const void* const in[] = {&loss};
  void* const out[] = {&told};
  StepBlock block;
  ASSERT_THAT(kernel->kernel.run({.inputs = in, .outputs = out, .block = &block}), IsOk());
  EXPECT_EQ(told, 2);
  block.fault.kind = Fault::Kind::kId;
  ASSERT_THAT(kernel->kernel.run({.inputs = in, .outputs = out, .block = &block}), IsOk());
  EXPECT_TRUE(std::isnan(told));
}

}  // namespace
}  // namespace taas
