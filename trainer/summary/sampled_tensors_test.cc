#include "trainer/summary/sampled_tensors.h"

#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/check.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/graph.h"
#include "trainer/kernels/cpu/cpu_runtime.h"

namespace taas {
namespace {

using ::testing::Each;

// Few scales, that are not trained, and many weights.
constexpr int64_t kFew = 10;
constexpr int64_t kMany = 60'000;

// Each weight is its own number, and each gradient the negative of it.
std::unique_ptr<Session> NumberedSession() {
  Graph graph;
  const Value x = graph.Input("x", {DType::kFloat32, Shape({Shape::kBatch, kFew})});
  const Value scales = graph.Variable("scales", Shape({kFew}), Initializer::Constant(0.5),
                                      /*trainable=*/false);
  const Value weights =
      graph.Variable("weights", Shape({kFew, kMany / kFew}), Initializer::TruncatedNormal(0.3));
  const Value y = graph.Add("MatMul", "", {graph.Add("BiasAdd", "", {x, scales}), weights});
  const Value targets =
      graph.Input("targets", {DType::kFloat32, Shape({Shape::kBatch, kMany / kFew})});
  graph.Add("MeanSquaredError", "loss", {y, targets});
  auto session = Session::Compile(CpuRuntime(), graph, {.batch = 1, .loss = "loss"});
  CHECK(session.ok()) << session.status().ToString();
  CHECK((*session)->InitializeVariables(/*seed=*/1).ok()) << "initialize";
  for (size_t i = 0; i < (*session)->variables().size(); ++i) {
    if (!(*session)->variables()[i].trainable) continue;
    const std::span<float> values = (*session)->variable(i).host();
    const std::span<float> gradients = (*session)->gradient(i).host();
    std::iota(values.begin(), values.end(), 0.0f);
    for (size_t at = 0; at < values.size(); ++at) gradients[at] = -values[at];
  }
  return *std::move(session);
}

size_t NumbersOf(const std::vector<Sample::Tensor>& tensors) {
  size_t numbers = 0;
  for (const Sample::Tensor& tensor : tensors) numbers += tensor.values.capacity();
  return numbers;
}

TEST(SampledTensorsTest, ASmallModelIsWhole) {
  const std::unique_ptr<Session> session = NumberedSession();
  const std::vector<Sample::Tensor> tensors = SampledTensors(*session);
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors[0].tag, "scales");
  EXPECT_EQ(tensors[1].tag, "weights");
  EXPECT_EQ(tensors[2].tag, "gradients/weights");
  EXPECT_EQ(tensors[0].values.size(), static_cast<size_t>(kFew));
  EXPECT_THAT(tensors[0].values, Each(0.5f));
  ASSERT_EQ(tensors[1].values.size(), static_cast<size_t>(kMany));
  ASSERT_EQ(tensors[2].values.size(), static_cast<size_t>(kMany));
  EXPECT_EQ(tensors[1].values.back(), kMany - 1);
  EXPECT_EQ(tensors[2].values.back(), 1 - kMany);
}

// Symptom: the training thread copied all weights and gradients at each step of a summary, a
// gigabyte of GPT-2, and as much was kept until it was counted.
TEST(SampledTensorsTest, OfALargeModelNoMoreThanTheBoundIsCopiedAtEqualDistances) {
  const std::unique_ptr<Session> session = NumberedSession();
  for (const size_t bound : {size_t{10'000}, size_t{40'000}, size_t{119'999}}) {
    const std::vector<Sample::Tensor> tensors = SampledTensors(*session, bound);
    ASSERT_EQ(tensors.size(), 3u);
    EXPECT_EQ(tensors[0].values.size(), static_cast<size_t>(kFew)) << "few are whole";
    EXPECT_LE(NumbersOf(tensors), bound + kSampledWhole);
    EXPECT_GT(NumbersOf(tensors), bound / 3);
    const std::vector<float>& weights = tensors[1].values;
    const float distance = weights[1] - weights[0];
    for (size_t i = 0; i < weights.size(); ++i) {
      ASSERT_EQ(weights[i], static_cast<float>(i) * distance);
      ASSERT_EQ(tensors[2].values[i], -weights[i]);
    }
    EXPECT_GE(weights.back(), static_cast<float>(kMany) - distance) << "to the end";
  }
}

}  // namespace
}  // namespace taas
