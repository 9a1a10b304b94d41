// The order in which gradients are there, and who is told of them while a run goes on.

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/session.h"
#include "trainer/graph/step_rest.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/testing/far_device.h"

namespace taas {
namespace {

using ::testing::IsEmpty;

constexpr int kLayers = 5;
constexpr int64_t kUnits = 12, kBatch = 4;

// One weight matrix is used twice, so that its gradient is the sum of two; with a penalty each is.
// The gradient of `u` is that of the last layer's output, too, so that much is computed from it,
// and that of `v` is a copy of it, which is made last.
Graph Layers(bool penalty = false) {
  Graph graph;
  Value x = graph.Input("x", {DType::kFloat32, Shape({kBatch, kUnits})});
  const Value targets = graph.Input("targets", {DType::kFloat32, Shape({kBatch, kUnits})});
  std::vector<Value> weights;
  for (int i = 0; i < kLayers; ++i) {
    weights.push_back(graph.Variable("w" + std::to_string(i), Shape({kUnits, kUnits}),
                                     Initializer::TruncatedNormal(0.3)));
    x = graph.Add("Relu", "", {graph.Add("MatMul", "", {x, weights.back()})});
  }
  x = graph.Add("MatMul", "", {x, weights[2]});
  for (const char* const name : {"u", "v"}) {
    x = graph.Add("Add", "", {x, graph.Variable(name, Shape({kBatch, kUnits}),
                                                Initializer::TruncatedNormal(0.3))});
  }
  std::vector<Value> losses = {
      graph.Add("MeanSquaredError", penalty ? "error" : "loss", {x, targets})};
  if (!penalty) return graph;
  for (const Value w : weights) losses.push_back(graph.Add("L2Loss", "", {w}));
  graph.Add("AddN", "loss", losses);
  return graph;
}

std::unique_ptr<Session> Compile(const Runtime& runtime, int inter_op_threads = 1) {
  auto session = Session::Compile(
      runtime, Layers(),
      {.batch = kBatch, .loss = "loss", .inter_op_threads = inter_op_threads});
  EXPECT_THAT(session.status(), IsOk());
  EXPECT_THAT((*session)->InitializeVariables(3), IsOk());
  SeededRandom random(7);
  for (const char* const name : {"x", "targets"}) {
    for (float& value : (*session)->FloatInput(name)) value = static_cast<float>(random.Unit());
  }
  return *std::move(session);
}

// What of a step's work is done when the variable's gradient and those before it are there.
double DoneAt(const Session& session, const std::string& name) {
  for (const OrderedGradient& gradient : session.gradient_order()) {
    if (session.variables()[gradient.variable].name == name) return gradient.done;
  }
  ADD_FAILURE() << "no gradient of " << name;
  return 0;
}

TEST(SessionGradientOrderTest, IsThatOfTheModelsMemoryAndSaysWhatWorkIsDone) {
  const auto session = Compile(CpuRuntime());
  const std::vector<OrderedGradient> order = session->gradient_order();
  ASSERT_EQ(order.size(), session->variables().size());
  const ModelState& model = session->model();
  std::set<size_t> variables;
  for (size_t i = 0; i < order.size(); ++i) {
    variables.insert(order[i].variable);
    const size_t next = i + 1 < order.size() ? model.at(order[i + 1].variable)
                                             : model.trained_elements();
    EXPECT_EQ(order[i].end, next);
    if (i > 0) {
      EXPECT_GE(order[i].done, order[i - 1].done);
    }
  }
  EXPECT_EQ(variables.size(), order.size());
  // Differentiation goes backwards.
  EXPECT_EQ(order.back().done, 1);
  EXPECT_GT(DoneAt(*session, "w4"), 0.3) << "the forward pass is a third of it";
  EXPECT_LT(DoneAt(*session, "w4"), 0.7);
  EXPECT_LT(DoneAt(*session, "w4"), DoneAt(*session, "w3"));
  EXPECT_LT(DoneAt(*session, "w0"), DoneAt(*session, "u")) << "it is read once more";
  EXPECT_LT(DoneAt(*session, "w2"), DoneAt(*session, "w1")) << "it has two parts";
}

// Sums of several parts came behind everything else.
TEST(SessionGradientOrderTest, AGradientOfSeveralPartsIsThereWhenThePartsAre) {
  auto session = Session::Compile(CpuRuntime(), Layers(/*penalty=*/true),
                                  {.batch = kBatch, .loss = "loss"});
  ASSERT_THAT(session.status(), IsOk());
  EXPECT_LT(DoneAt(**session, "w4"), 0.7);
  EXPECT_LT(DoneAt(**session, "w4"), DoneAt(**session, "w1"));
}

TEST(SessionGradientOrderTest, ASessionThatTrainsNothingHasNone) {
  auto session = Session::Compile(CpuRuntime(), Layers(),
                                  {.batch = kBatch, .loss = "loss", .trainable = false});
  ASSERT_THAT(session.status(), IsOk());
  EXPECT_THAT((*session)->gradient_order(), IsEmpty());
}

// What is told of as there has its last value and may be written over: the end of the run is right
// all the same.
TEST(SessionGradientOrderTest, WhatIsThereIsFinalAndNoLongerUsed) {
  for (const int threads : {1, 3}) {
    const auto plain = Compile(CpuRuntime());
    ASSERT_THAT(plain->Run(RunKind::kTrain), IsOk());
    const auto session = Compile(CpuRuntime(), threads);
    const std::vector<OrderedGradient> order = session->gradient_order();
    std::vector<size_t> told;
    std::vector<std::vector<float>> copies;
    session->WatchGradients([&](size_t count) {
      told.push_back(count);
      for (size_t i = copies.size(); i < count; ++i) {
        const std::span<float> gradient = session->gradient(order[i].variable).host();
        copies.emplace_back(gradient.begin(), gradient.end());
        std::ranges::fill(gradient, -1e9F);
      }
    });
    for (int run = 0; run < 20; ++run) {
      told.clear();
      copies.clear();
      ASSERT_THAT(session->Run(RunKind::kTrain), IsOk());
      ASSERT_EQ(copies.size(), order.size()) << threads << " threads";
      EXPECT_TRUE(std::ranges::is_sorted(told));
      EXPECT_EQ(told.back(), order.size());
      if (threads == 1) {
        EXPECT_GT(told.size(), 2U) << "one after the other";
      }
      for (size_t i = 0; i < order.size(); ++i) {
        const std::span<const float> expected = plain->gradient(order[i].variable).host();
        EXPECT_TRUE(std::ranges::equal(copies[i], expected))
            << session->variables()[order[i].variable].name << ", " << threads << " threads";
      }
    }
    told.clear();
    ASSERT_THAT(session->Run(RunKind::kForward), IsOk());
    EXPECT_THAT(told, IsEmpty());
    session->WatchGradients(nullptr);
    ASSERT_THAT(session->Run(RunKind::kTrain), IsOk());
    EXPECT_THAT(told, IsEmpty());
  }
}

class Nothing : public StepRest {
 public:
  absl::Status Launch(Stream&) override { return absl::OkStatus(); }
};

TEST(SessionGradientOrderTest, NobodyIsToldWhereGradientsComeWithTheEndOfTheRun) {
  int told = 0;
  const auto far = Compile(FarRuntime());
  far->WatchGradients([&](size_t) { ++told; });
  ASSERT_THAT(far->Run(RunKind::kTrain), IsOk());
  EXPECT_EQ(told, 0) << "the host does not see them";
  const auto session = Compile(CpuRuntime());
  session->WatchGradients([&](size_t) { ++told; });
  Nothing clip;
  session->Append(RunKind::kTrain, clip);
  ASSERT_THAT(session->Run(RunKind::kTrain), IsOk());
  EXPECT_EQ(told, 0) << "what follows changes them";
  session->Remove(clip);
  ASSERT_THAT(session->Run(RunKind::kTrain), IsOk());
  EXPECT_GT(told, 0);
}

}  // namespace
}  // namespace taas
