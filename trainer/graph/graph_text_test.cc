#include "trainer/graph/graph_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/check.h"
#include "trainer/graph/graph.h"
#include "trainer/kernels/cpu/bfloat16.h"
#include "trainer/kernels/cpu/cpu_runtime.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::unique_ptr<Session> MakeSession(Precision products = Precision::kFloat32) {
  Graph graph;
  const Value x = graph.Input("x", {DType::kFloat32, Shape({Shape::kBatch, 50})});
  const Value w = graph.Variable("w", Shape({50, 20}), Initializer::Zeros());
  const Value y = graph.Add("Tanh", "y", {graph.Add("MatMul", "product", {x, w})});
  graph.Add("ReduceMean", "loss", {y});
  auto session = Session::Compile(CpuRuntime(), graph,
                                  {.batch = 10, .loss = "loss", .products = products});
  CHECK(session.ok()) << session.status().ToString();
  return *std::move(session);
}

TEST(GraphTextTest, ListsOpsInTheirOrderWithCostsAndMemory) {
  const std::string text = GraphText(*MakeSession(), RunKind::kForward);
  const std::string cpu = "/job:localhost/replica:0/task:0/device:CPU:0";
  const std::string wide(cpu.size() - std::string("device").size(), ' ');
  const std::string expected =
      "#  name     op          output           device" + wide + "  flops  bytes\n" +
      "1  product  MatMul      float32[10, 20]  " + cpu + "   20 k  6.8 k\n" +
      "2  y        Tanh        float32[10, 20]  " + cpu + "  4.4 k  1.6 k\n" +
      "3  loss     ReduceMean  float32[]        " + cpu + "    200    804\n\n" +
      "3 ops, batch 10: 24.6 kFLOP, 9.2 kB read and written\n" +
      "memory: variables 4 kB, gradients 4 kB, inputs 2 kB, peak of all in between ";
  EXPECT_EQ(text.substr(0, expected.size()), expected) << text;
}

TEST(GraphTextTest, ATrainingRunHasTheGradientsToo) {
  const auto session = MakeSession();
  EXPECT_THAT(GraphText(*session, RunKind::kForward), Not(HasSubstr("TanhGrad")));
  EXPECT_THAT(GraphText(*session, RunKind::kTrain), HasSubstr("gradients/TanhGrad"));
}

TEST(GraphTextTest, SaysWhichProductsAreOfRoundedFactors) {
  const auto session = MakeSession(Precision::kBFloat16);
  const std::string op = HasBFloat16() ? "MatMul(bfloat16)" : "MatMul  ";
  EXPECT_THAT(GraphText(*session, RunKind::kForward), HasSubstr("product  " + op));
  EXPECT_THAT(GraphText(*session, RunKind::kTrain), HasSubstr("gradients/MatMul    " + op));
  EXPECT_THAT(GraphText(*session, RunKind::kTrain), Not(HasSubstr("Tanh(bfloat16)")));
  EXPECT_THAT(session->Placements(), HasSubstr("product: (MatMul): /job"));
}

TEST(GraphTextTest, DrawsNodesAndEdges) {
  EXPECT_THAT(GraphDot(*MakeSession(), RunKind::kForward),
              AllOf(HasSubstr("\"w\" [label=\"w\nVariable float32[50, 20]\", shape=ellipse];\n"),
                    HasSubstr("  \"x\" -> \"product\";\n"), HasSubstr("  \"w\" -> \"product\";\n"),
                    HasSubstr("  \"product\" -> \"y\";\n"), Not(HasSubstr("Grad"))));
}

}  // namespace
}  // namespace taas
