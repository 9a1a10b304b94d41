#include "trainer/graph/testing/unusual_graph.h"

#include "gtest/gtest.h"
#include "operator/base/check.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/gradient_check.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/optimizer/optimizer.h"

namespace taas {
namespace {

TEST(UnusualGraphTest, GradientsAgreeWithDifferencesOfTheLoss) {
  const UnusualGraph unusual = BuildUnusualGraph();
  auto session = Session::Compile(CpuRuntime(), unusual.graph, {.batch = 16, .loss = unusual.loss});
  ASSERT_THAT(session, IsOk());
  CHECK((*session)->InitializeVariables(/*seed=*/5).ok()) << "initialize";
  FillUnusualBatch(/*seed=*/1, session->get());
  CheckGradients(session->get());
}

TEST(UnusualGraphTest, TrainsToAMuchSmallerLoss) {
  const UnusualGraph unusual = BuildUnusualGraph();
  auto session = Session::Compile(CpuRuntime(), unusual.graph, {.batch = 32, .loss = unusual.loss});
  ASSERT_THAT(session, IsOk());
  CHECK((*session)->InitializeVariables(/*seed=*/5).ok()) << "initialize";
  const auto optimizer = Optimizer::Make({.learning_rate = {.start = 0.2}});
  ASSERT_THAT(optimizer, IsOk());
  // Of a batch that is not trained on.
  const auto held_out = [&] {
    FillUnusualBatch(/*seed=*/1'000'000, session->get());
    CHECK((*session)->Run(RunKind::kForward).ok()) << "forward";
    return (*session)->loss();
  };
  const float before = held_out();
  for (int64_t step = 1; step <= 2000; ++step) {
    FillUnusualBatch(static_cast<uint64_t>(step), session->get());
    ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
    for (size_t i = 0; i < (*session)->variables().size(); ++i) {
      const std::span<float> variable = (*session)->variable(i).host();
      (*optimizer)->Apply(
          {.gradient = (*session)->gradient(i).host(),
           .in = variable,
           .out = variable,
           .step = step});
    }
  }
  EXPECT_LT(held_out(), before / 5);
}

TEST(UnusualGraphTest, SharedWeightsAreOneVariable) {
  const UnusualGraph unusual = BuildUnusualGraph();
  EXPECT_EQ(unusual.graph.Variables().size(), 9u);
}

}  // namespace
}  // namespace taas
