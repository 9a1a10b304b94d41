// A step of a session allocates nothing of ours; what is counted is in allocations.h.

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "operator/base/check.h"
#include "operator/base/clock.h"
#include "trainer/graph/session.h"
#include "trainer/graph/step_trace.h"
#include "trainer/graph/testing/allocations.h"
#include "trainer/graph/testing/image_graph.h"
#include "trainer/graph/testing/unusual_graph.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/model/model.h"

namespace taas {
namespace {

// Of several steps after the first, in which one-time set-up may happen.
int64_t AllocationsOfSteps(Session* session) {
  CHECK(session->Run(RunKind::kTrain).ok()) << "the first step failed";
  const int64_t before = Allocations();
  for (int step = 0; step < 5; ++step) {
    const bool trained = session->Run(RunKind::kTrain).ok();
    const bool evaluated = session->Run(RunKind::kForward).ok();
    CHECK(trained && evaluated && session->loss() >= 0) << "a step failed";
  }
  return Allocations() - before;
}

TEST(SessionAllocationTest, TheCountersSeeAllocations) {
  const int64_t before = Allocations();
  {
    const std::unique_ptr<int> memory = std::make_unique<int>(1);
    asm volatile("" : : "r"(memory.get()) : "memory");  // Else the compiler leaves it out.
  }
  EXPECT_GE(Allocations() - before, 1);
}

TEST(SessionAllocationTest, AStepOfAnyGraphAllocatesNothing) {
  const UnusualGraph unusual = BuildUnusualGraph();
  auto session = Session::Compile(CpuRuntime(), unusual.graph, {.batch = 16, .loss = unusual.loss});
  ASSERT_TRUE(session.ok()) << session.status();
  CHECK((*session)->InitializeVariables(1).ok()) << "initialize";
  FillUnusualBatch(1, session->get());
  EXPECT_EQ(AllocationsOfSteps(session->get()), 0);
}

TEST(SessionAllocationTest, AStepOfAClassifierAllocatesNothing) {
  const auto model = BuildModel({.name = "mlp", .hidden = {50}, .data = {784, 10}});
  ASSERT_TRUE(model.ok()) << model.status();
  auto session = Session::Compile(
      CpuRuntime(), model->graph,
      {.batch = 100, .loss = model->loss, .fetches = {model->accuracy}});
  ASSERT_TRUE(session.ok()) << session.status();
  CHECK((*session)->InitializeVariables(1).ok()) << "initialize";
  EXPECT_EQ(AllocationsOfSteps(session->get()), 0);
}

// Convolutions, batch normalization with its updates, dropout, pooling, merged chains.
TEST(SessionAllocationTest, AStepOfAResidualNetworkAllocatesNothing) {
  const ImageGraph images = BuildImageGraph({.size = 8, .channels = 16, .blocks = 2});
  for (const int inter : {1, 2}) {
    for (const int intra : {1, 2}) {
      auto session = Session::Compile(CpuRuntime(), images.graph,
                                      {.batch = 4,
                                       .loss = images.loss,
                                       .threads = intra,
                                       .deterministic = intra == 2,
                                       .inter_op_threads = inter});
      ASSERT_TRUE(session.ok()) << session.status();
      CHECK((*session)->InitializeVariables(1).ok()) << "initialize";
      FillImageBatch(1, session->get());
      EXPECT_EQ(AllocationsOfSteps(session->get()), 0) << inter << ", " << intra;
      // Whatever oneDNN takes, it takes it in every step alike.
      int64_t last = -1;
      for (int round = 0; round < 2; ++round) {
        const int64_t before = LibraryAllocations();
        EXPECT_EQ(AllocationsOfSteps(session->get()), 0) << inter << ", " << intra;
        const int64_t here = LibraryAllocations() - before;
        EXPECT_GT(here, 0) << "the counter sees nothing";
        if (round > 0) {
          EXPECT_EQ(here, last);
        }
        last = here;
      }
    }
  }
}

// Lists of rows have room for all ids of a batch, of which more are different in a later step.
TEST(SessionAllocationTest, AStepOfAnEmbeddingAllocatesNothing) {
  Graph graph;
  const Value table = graph.Variable("table", Shape({1000, 256}), Initializer::Uniform(-1, 1));
  const Value ids = graph.Input("ids", {DType::kInt64, Shape({Shape::kBatch, 9})});
  const Value x = graph.Add("Embedding", "", {table, ids});
  graph.Add("ReduceMean", "loss", {graph.Add("Square", "", {x})});
  for (const int threads : {1, 3}) {
    auto session = Session::Compile(CpuRuntime(), graph,
                                    {.batch = 50, .loss = "loss", .threads = threads});
    ASSERT_TRUE(session.ok()) << session.status();
    CHECK((*session)->InitializeVariables(1).ok()) << "initialize";
    EXPECT_EQ(AllocationsOfSteps(session->get()), 0);
    EXPECT_EQ((*session)->gradient_rows(0)->ids.size(), 1u);
    const std::span<int64_t> input = (*session)->Int64Input("ids");
    for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<int64_t>(i);
    const int64_t before = Allocations();
    const bool trained = (*session)->Run(RunKind::kTrain).ok();
    EXPECT_EQ(Allocations() - before, 0);
    EXPECT_TRUE(trained);
    EXPECT_EQ((*session)->gradient_rows(0)->ids.size(), 450u);
  }
}

// Convolutions, an LSTM, attention with layer norms and GELUs.
class NamedModelAllocationTest : public testing::TestWithParam<Precision> {};

TEST_P(NamedModelAllocationTest, AStepAllocatesNothing) {
  const DataShape digits{.features = 784, .classes = 10, .image = {28, 28, 1}};
  const DataShape tokens{.features = 70, .vocabulary = 40};
  const std::pair<const char*, DataShape> models[] = {
      {R"({"name":"lenet"})", digits},
      {R"({"name":"lstm","hidden":[24]})", digits},
      {R"({"name":"gpt2","blocks":1,"heads":2,"width":16})", tokens}};
  for (const auto& [text, shape] : models) {
    const auto spec = ParseModel(text, shape);
    ASSERT_TRUE(spec.ok()) << spec.status();
    const auto model = BuildModel(*spec);
    ASSERT_TRUE(model.ok()) << model.status();
    for (const int threads : {1, 2}) {
      auto session = Session::Compile(CpuRuntime(), model->graph,
                                      {.batch = 4,
                                       .loss = model->loss,
                                       .threads = threads,
                                       .products = GetParam()});
      ASSERT_TRUE(session.ok()) << session.status();
      CHECK((*session)->InitializeVariables(1).ok()) << "initialize";
      EXPECT_EQ(AllocationsOfSteps(session->get()), 0) << text << ", " << threads;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Products, NamedModelAllocationTest,
                         testing::Values(Precision::kFloat32, Precision::kBFloat16),
                         [](const auto& info) {
                           return info.param == Precision::kFloat32 ? "Float32" : "BFloat16";
                         });

// Recording too: memory for all events is taken when the session is compiled.
TEST(SessionAllocationTest, ATracedStepAllocatesNothing) {
  const RealClock clock;
  StepTrace trace(clock, {.first = 1, .last = 3});
  const ImageGraph images = BuildImageGraph({});
  auto session = Session::Compile(
      CpuRuntime(), images.graph,
      {.batch = 4, .loss = images.loss, .inter_op_threads = 2, .trace = &trace});
  ASSERT_TRUE(session.ok()) << session.status();
  CHECK((*session)->InitializeVariables(1).ok()) << "initialize";
  FillImageBatch(1, session->get());
  EXPECT_EQ(AllocationsOfSteps(session->get()), 0);
  EXPECT_TRUE(trace.complete());
}

}  // namespace
}  // namespace taas
