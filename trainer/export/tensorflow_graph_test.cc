#include "trainer/export/tensorflow_graph.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Graph SmallGraph() {
  Graph graph;
  const Value x = graph.Input("x", {DType::kFloat32, Shape({Shape::kBatch, 2})});
  const Value labels = graph.Input("labels", {DType::kInt32, Shape({Shape::kBatch})});
  graph.SetDevice("/device:CPU:1");
  const Value w = graph.Variable("w", Shape({2, 3}), Initializer::Zeros());
  const Value y = graph.Add("MatMul", "y", {x, w});
  graph.Add("SparseSoftmaxCrossEntropy", "loss", {y, labels});
  return graph;
}

TEST(TensorflowGraphTest, OnlyWhatTheEndsNeedIsTranslated) {
  const Graph graph = SmallGraph();
  tf::GraphDef out;
  NodeAdder nodes(&out);
  const auto ends = Translate(graph, {*graph.Find("x"), *graph.Find("y")}, &nodes);
  ASSERT_THAT(ends, IsOk());
  EXPECT_THAT(*ends, ElementsAre("x", "y"));
  std::vector<std::string> names;
  for (const tf::NodeDef& node : out.node()) names.push_back(node.name() + ":" + node.op());
  EXPECT_THAT(names, ElementsAre("x:Placeholder", "w:VarHandleOp", "w/Initializer/zeros:Const",
                                 "w/Assign:AssignVariableOp",
                                 "w/Read/ReadVariableOp:ReadVariableOp", "y:MatMul"));
  EXPECT_THAT(out.node(5).input(), ElementsAre("x", "w/Read/ReadVariableOp"));
  EXPECT_EQ(out.node(0).attr().at("shape").shape().dim(0).size(), -1);
}

TEST(TensorflowGraphTest, AnOpWithoutTranslationIsNamed) {
  const Graph graph = SmallGraph();
  tf::GraphDef out;
  NodeAdder nodes(&out);
  EXPECT_THAT(Translate(graph, {*graph.Find("loss")}, &nodes),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("node loss: op SparseSoftmaxCrossEntropy has no translation")));
}

}  // namespace
}  // namespace taas
