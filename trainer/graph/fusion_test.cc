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

TEST_F(FusionTest, ASumOnAnotherDeviceStays) {
  const Value sum = graph_.Add("BiasAdd", "here", graph_.node(sum_).inputs);
  graph_.SetDevice("/device:CPU:1");
  relu_ = graph_.Add("Relu", "there", {sum});
  EXPECT_EQ(Fused().op, "Relu");
}

}  // namespace
}  // namespace taas
