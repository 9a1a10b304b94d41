#include "trainer/summary/graph_event.h"

#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/formats/tensorflow.pb.h"
#include "trainer/graph/graph.h"
#include "trainer/kernels/cpu/cpu_runtime.h"

namespace taas {
namespace {

using ::testing::ElementsAre;

TEST(GraphEventTest, NodesHaveEdgesDevicesTypesAndShapes) {
  Graph graph;
  const Value x = graph.Input("x", {DType::kFloat32, Shape({Shape::kBatch, 3})});
  const Value labels = graph.Input("labels", {DType::kInt32, Shape({Shape::kBatch})});
  graph.SetDevice("/device:CPU:1");
  const Value w = graph.Variable("layer/w", Shape({3, 2}), Initializer::Zeros());
  const Value y = graph.Add("MatMul", "layer/y", {x, w});
  const Value loss = graph.Add("SparseSoftmaxCrossEntropy", "xentropy", {y, labels});
  graph.Add("ReduceSum", "sum", {{loss.node, 1}}, {{"axes", std::vector<int64_t>{0}}});
  auto session = Session::Compile(CpuRuntime().Virtual(2), graph,
                                  {.batch = 4, .loss = "xentropy", .fetches = {"sum"}});
  ASSERT_THAT(session, IsOk());
  tf::GraphDef def;
  ASSERT_TRUE(def.ParseFromString(GraphEvent((*session)->ops(RunKind::kForward)).graph_def()));
  std::map<std::string, tf::NodeDef> nodes;
  for (const tf::NodeDef& node : def.node()) nodes[node.name()] = node;
  ASSERT_EQ(nodes.size(), 6u);
  EXPECT_EQ(nodes["x"].op(), "Placeholder");
  EXPECT_EQ(nodes["x"].device(), "/job:localhost/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(nodes["layer/w"].op(), "VariableV2");
  EXPECT_EQ(nodes["layer/w"].attr().at("shape").shape().dim_size(), 2);
  EXPECT_EQ(nodes["labels"].attr().at("T").type(), tf::DT_INT32);
  const tf::NodeDef& product = nodes["layer/y"];
  EXPECT_EQ(product.op(), "MatMul");
  EXPECT_THAT(product.input(), ElementsAre("x", "layer/w"));
  EXPECT_EQ(product.device(), "/job:localhost/replica:0/task:0/device:CPU:1");
  EXPECT_EQ(product.attr().at("T").type(), tf::DT_FLOAT);
  EXPECT_FALSE(product.attr().at("transpose_a").b());
  const auto& shapes = product.attr().at("_output_shapes").list().shape();
  ASSERT_EQ(shapes.size(), 1);
  EXPECT_EQ(shapes[0].dim(0).size(), 4);
  EXPECT_EQ(shapes[0].dim(1).size(), 2);
  EXPECT_EQ(nodes["xentropy"].attr().at("_output_shapes").list().shape_size(), 2);
  EXPECT_THAT(nodes["sum"].input(), ElementsAre("xentropy:1"));
  EXPECT_THAT(nodes["sum"].attr().at("axes").list().i(), ElementsAre(0));
}

TEST(GraphEventTest, EachTypeIsTensorFlowsOfItsName) {
  const std::pair<DType, tf::DataType> types[] = {{DType::kFloat32, tf::DT_FLOAT},
                                                  {DType::kInt32, tf::DT_INT32},
                                                  {DType::kInt64, tf::DT_INT64},
                                                  {DType::kUint8, tf::DT_UINT8}};
  for (const auto& [ours, theirs] : types) {
    const OpInfo ops[] = {{.name = "x", .op = "Input", .outputs = {{ours, Shape({2})}}}};
    tf::GraphDef def;
    ASSERT_TRUE(def.ParseFromString(GraphEvent(ops).graph_def()));
    EXPECT_EQ(def.node(0).attr().at("T").type(), theirs) << NameOf(ours);
  }
}

TEST(GraphEventTest, SaysWhichProductsAreOfRoundedFactors) {
  const TensorType type{DType::kFloat32, Shape({2})};
  const OpInfo ops[] = {
      {.name = "a", .op = "MatMul", .outputs = {type}, .products = Precision::kBFloat16},
      {.name = "b", .op = "MatMul", .outputs = {type}}};
  tf::GraphDef def;
  ASSERT_TRUE(def.ParseFromString(GraphEvent(ops).graph_def()));
  EXPECT_EQ(def.node(0).op(), "MatMul");
  EXPECT_EQ(def.node(0).attr().at("products").s(), "bfloat16");
  EXPECT_FALSE(def.node(1).attr().contains("products"));
}

}  // namespace
}  // namespace taas
