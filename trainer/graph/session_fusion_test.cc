// Merged ops compute what the ops alone compute, bit by bit, and in fewer passes over memory.

#include <cstring>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/session.h"
#include "trainer/graph/testing/image_graph.h"
#include "trainer/graph/testing/unusual_graph.h"
#include "trainer/kernels/cpu/cpu_runtime.h"

namespace taas {
namespace {

struct Trained {
  std::vector<float> numbers;
  std::multiset<std::string> ops;  // That ran.
  double bytes = 0;
};

using Fill = void (*)(Session* session);

Trained Train(const Graph& graph, SessionOptions options, bool fuse, Fill fill) {
  options.fuse = fuse;
  auto session = Session::Compile(CpuRuntime(), graph, options);
  EXPECT_THAT(session, IsOk());
  Trained trained;
  if (!session.ok()) return trained;
  EXPECT_THAT((*session)->InitializeVariables(/*seed=*/5), IsOk());
  fill(session->get());
  for (int step = 1; step <= 3; ++step) {
    (*session)->SetStep(step);
    EXPECT_THAT((*session)->Run(RunKind::kTrain), IsOk());
    trained.numbers.push_back((*session)->loss());
    for (size_t i = 0; i < (*session)->variables().size(); ++i) {
      const std::span<float> w = (*session)->variable(i).host();
      const std::span<float> g = (*session)->gradient(i).host();
      trained.numbers.insert(trained.numbers.end(), g.begin(), g.end());
      for (size_t at = 0; at < g.size(); ++at) w[at] -= 0.05f * g[at];
      trained.numbers.insert(trained.numbers.end(), w.begin(), w.end());
    }
    for (const std::string& fetch : options.fetches) {
      const std::span<const float> kept = (*session)->output(fetch).host();
      trained.numbers.insert(trained.numbers.end(), kept.begin(), kept.end());
    }
  }
  for (const OpInfo& op : (*session)->ops(RunKind::kTrain)) {
    if (op.runs) trained.ops.insert(op.op);
  }
  trained.bytes = (*session)->cost(RunKind::kTrain).bytes;
  return trained;
}

// Returns what ran when merged.
std::multiset<std::string> ExpectSameBits(const Graph& graph, const SessionOptions& options,
                                          Fill fill) {
  const Trained apart = Train(graph, options, /*fuse=*/false, fill);
  const Trained merged = Train(graph, options, /*fuse=*/true, fill);
  EXPECT_EQ(apart.numbers.size(), merged.numbers.size());
  if (apart.numbers.size() == merged.numbers.size()) {
    EXPECT_EQ(std::memcmp(apart.numbers.data(), merged.numbers.data(),
                          merged.numbers.size() * sizeof(float)), 0);
  }
  EXPECT_LT(merged.ops.size(), apart.ops.size());
  EXPECT_LT(merged.bytes, apart.bytes);
  return merged.ops;
}

TEST(SessionFusionTest, AGraphWithBranches) {
  const UnusualGraph unusual = BuildUnusualGraph();
  const auto ops = ExpectSameBits(unusual.graph, {.batch = 37, .loss = unusual.loss},
                                  [](Session* session) { FillUnusualBatch(3, session); });
  EXPECT_EQ(ops.count("Fused(BiasAdd Sigmoid)"), 2u);
  EXPECT_EQ(ops.count("Fused(BiasAdd Tanh)"), 1u);
  EXPECT_EQ(ops.count("BiasAddRelu"), 1u);
}

TEST(SessionFusionTest, AResidualNetwork) {
  // Without an L2 loss, whose merged gradient is rounded once instead of twice.
  const ImageGraph images = BuildImageGraph({.size = 8, .channels = 12, .blocks = 2, .l2 = 0});
  const auto ops = ExpectSameBits(
      images.graph, {.batch = 5, .loss = images.loss, .fetches = {images.logits}},
      [](Session* session) { FillImageBatch(3, session); });
  EXPECT_EQ(ops.count("Fused(Add Relu)"), 2u);
}

// Graphs of elementwise ops drawn at random. Seeds are fixed: the test states a property.
TEST(SessionFusionTest, RandomGraphsOfElementwiseOps) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SeededRandom random(seed);
    const int64_t columns = 1 + static_cast<int64_t>(random.Below(70));
    Graph graph;
    std::vector<Value> values;
    for (int i = 0; i < 3; ++i) {
      values.push_back(graph.Variable("x" + std::to_string(i), Shape({97, columns}),
                                      Initializer::Uniform(-1, 1)));
    }
    const Value bias = graph.Variable("bias", Shape({columns}), Initializer::Uniform(-1, 1));
    const auto any = [&] { return values[random.Below(values.size())]; };
    for (int i = 0; i < 25; ++i) {
      constexpr const char* kUnary[] = {"Relu", "Sigmoid", "Tanh", "Identity"};
      constexpr const char* kBinary[] = {"Add", "Sub", "Mul", "AddN"};
      Value value;
      switch (random.Below(5)) {
        case 0: value = graph.Add("BiasAdd", "", {any(), bias}); break;
        case 1: value = graph.Add("Scale", "", {any()}, {{"factor", 0.3}}); break;
        case 2: value = graph.Add(kBinary[random.Below(4)], "", {any(), any()}); break;
        case 3: value = graph.Add("AddN", "", {any(), any(), any()}); break;
        default: value = graph.Add(kUnary[random.Below(4)], "", {any()}); break;
      }
      // The newest are read most, so that chains are long.
      values.push_back(value);
      values.push_back(value);
      if (values.size() > 12) values.erase(values.begin());
    }
    graph.Add("Identity", "kept", {any()});
    graph.Add("ReduceMean", "loss", {graph.Add("Tanh", "", {values.back()})});
    const auto numbers = [&graph](bool fuse, int threads) {
      return Train(graph,
                   {.loss = "loss", .fetches = {"kept"}, .inter_op_threads = threads}, fuse,
                   [](Session*) {})
          .numbers;
    };
    const std::vector<float> expected = numbers(false, 1);
    for (const int threads : {1, 2}) {
      const std::vector<float> got = numbers(true, threads);
      ASSERT_EQ(got.size(), expected.size());
      ASSERT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)), 0)
          << threads;
    }
  }
}

}  // namespace
}  // namespace taas
