#include "trainer/graph/fusion.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

class FusionTest : public testing::Test {
 protected:
  FusionTest() {
    const Value x = graph_.Input("x", {DType::kFloat32, Shape({Shape::kBatch, 4})});
    const Value b = graph_.Variable("b", Shape({4}), Initializer::Zeros());
    sum_ = graph_.Add("BiasAdd", "sum", {x, b});
    relu_ = graph_.Add("Relu", "relu", {sum_});
  }

  // What the relu became.
  Node Fused(std::vector<Value> kept = {}) {
    std::vector<Node> nodes = graph_.nodes();
    FuseNodes(&nodes, kept);
    return nodes[static_cast<size_t>(relu_.node)];
  }

  Graph graph_;
  Value sum_, relu_;
};

TEST_F(FusionTest, ReluAfterBiasTakesTheInputsOfTheBias) {
  const Node fused = Fused();
  EXPECT_EQ(fused.op, "BiasAddRelu");
  EXPECT_EQ(fused.inputs, graph_.node(sum_).inputs);
}

TEST_F(FusionTest, ASumWithAnotherReaderStays) {
  graph_.Add("Tanh", "other", {sum_});
  EXPECT_EQ(Fused().op, "Relu");
}

TEST_F(FusionTest, ASumThatIsKeptStays) { EXPECT_EQ(Fused({sum_}).op, "Relu"); }

TEST_F(FusionTest, WithoutAKernelNothingIsMerged) {
  std::vector<Node> nodes = graph_.nodes();
  FuseNodes(&nodes, {}, [](const Node&) { return false; });
  EXPECT_EQ(nodes[static_cast<size_t>(relu_.node)].op, "Relu");
}

TEST_F(FusionTest, ASumOnAnotherDeviceStays) {
  const Value sum = graph_.Add("BiasAdd", "here", graph_.node(sum_).inputs);
  graph_.SetDevice("/device:CPU:1");
  relu_ = graph_.Add("Relu", "there", {sum});
  EXPECT_EQ(Fused().op, "Relu");
}

TEST(FuseL2Test, GradientOfL2IsAddedToTheOtherInOnePass) {
  Graph graph;
  const Value w = graph.Variable("w", Shape({4}), Initializer::Zeros());
  const Value dloss = graph.Constant("dloss", Shape(), 1);
  const Value other = graph.Add("Tanh", "other", {w});
  const Value l2 = graph.Add("L2LossGrad", "l2", {w, dloss});
  const Value sum = graph.Add("AddN", "sum", {l2, other});
  std::vector<Node> nodes = graph.nodes();
  FuseNodes(&nodes, {});
  EXPECT_EQ(nodes[static_cast<size_t>(sum.node)].op, "L2LossGradAdd");
  EXPECT_EQ(nodes[static_cast<size_t>(sum.node)].inputs, (std::vector<Value>{other, w, dloss}));
  graph.Add("Tanh", "reader", {l2});
  nodes = graph.nodes();
  FuseNodes(&nodes, {});
  EXPECT_EQ(nodes[static_cast<size_t>(sum.node)].op, "AddN");
}

class FusePoolTest : public testing::Test {
 protected:
  FusePoolTest() {
    x_ = graph_.Input("x", {DType::kFloat32, Shape({Shape::kBatch, 6, 6, 2})});
    relu_ = graph_.Add("Relu", "relu", {x_});
    const Attributes size{{"size", std::vector<int64_t>{3, 3}}};
    const Value y = graph_.Add("MaxPool", "pool", {relu_}, size);
    const Value dy = graph_.Add("Tanh", "dy", {y});
    pool_grad_ = graph_.Add("MaxPoolGrad", "poolGrad", {dy, relu_, y}, size);
  }

  // What the gradient of a Relu that made `y` became.
  Node Fused(Value y) {
    const Value grad = graph_.Add("ReluGrad", "reluGrad", {pool_grad_, y});
    EXPECT_TRUE(graph_.status().ok()) << graph_.status();
    std::vector<Node> nodes = graph_.nodes();
    FuseNodes(&nodes, {});
    return nodes[static_cast<size_t>(grad.node)];
  }

  Graph graph_;
  Value x_, relu_, pool_grad_;
};

TEST_F(FusePoolTest, GradientOfAReluBeforeThePoolingIsTakenInTheSamePass) {
  const Node fused = Fused(relu_);
  EXPECT_EQ(fused.op, "MaxPoolReluGrad");
  EXPECT_EQ(fused.inputs, graph_.node(pool_grad_).inputs);
  EXPECT_EQ(fused.attributes.Ints("size"), (std::vector<int64_t>{3, 3}));
}

TEST_F(FusePoolTest, AnotherReluStays) {
  EXPECT_EQ(Fused(graph_.Add("Relu", "other", {x_})).op, "ReluGrad");
}

TEST_F(FusePoolTest, AGradientWithAnotherReaderStays) {
  graph_.Add("Tanh", "reader", {pool_grad_});
  EXPECT_EQ(Fused(relu_).op, "ReluGrad");
}

}  // namespace
}  // namespace taas
