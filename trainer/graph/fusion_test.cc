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

class FuseNormTest : public testing::Test {
 protected:
  FuseNormTest() {
    x_ = graph_.Input("x", {DType::kFloat32, Shape({Shape::kBatch, 4})});
    scale_ = graph_.Variable("scale", Shape({4}), Initializer::Zeros());
    offset_ = graph_.Variable("offset", Shape({4}), Initializer::Zeros());
    norm_ = graph_.Add("BatchNorm", "norm", {x_, scale_, offset_}, {{"epsilon", 0.5}});
    graph_.Add("MovingAverage", "average", {scale_, Moment(1)}, {{"decay", 0.9}});
    relu_ = graph_.Add("Relu", "relu", {norm_});
    y_ = graph_.Add("Tanh", "y", {relu_});
    dy_ = graph_.Add("Tanh", "dy", {y_});
    relu_grad_ = graph_.Add("ReluGrad", "reluGrad", {dy_, relu_});
    grad_ = graph_.Add("BatchNormGrad", "grad", {relu_grad_, x_, scale_, Moment(1), Moment(2)},
                       {{"epsilon", 0.5}});
  }

  Value Moment(int i) const { return {norm_.node, i}; }
  void Fuse(const std::vector<Value>& kept = {}) {
    EXPECT_TRUE(graph_.status().ok()) << graph_.status();
    nodes_ = graph_.nodes();
    FuseNodes(&nodes_, kept);
  }
  const Node& At(Value value) const { return nodes_[static_cast<size_t>(value.node)]; }

  Graph graph_;
  Value x_, scale_, offset_, norm_, relu_, y_, dy_, relu_grad_, grad_;
  std::vector<Node> nodes_;
};

TEST_F(FuseNormTest, AReluBehindItIsPartOfTheNormalizationAndOfItsGradient) {
  Fuse();
  EXPECT_EQ(At(norm_).op, "BatchNormRelu");
  EXPECT_EQ(At(norm_).inputs, graph_.node(norm_).inputs);
  EXPECT_EQ(At(norm_).attributes.Number("epsilon"), 0.5);
  EXPECT_EQ(At(y_).inputs, std::vector<Value>{norm_});  // Where the Relu's readers read now.
  EXPECT_EQ(At(grad_).op, "BatchNormReluGrad");
  EXPECT_EQ(At(grad_).inputs,
            (std::vector<Value>{dy_, x_, scale_, Moment(1), Moment(2), offset_}));
}

TEST_F(FuseNormTest, ANormalizationWithAnotherReaderStays) {
  graph_.Add("Tanh", "other", {norm_});
  Fuse();
  EXPECT_EQ(At(norm_).op, "BatchNorm");
  EXPECT_EQ(At(grad_).op, "BatchNormGrad");
}

TEST_F(FuseNormTest, WhatIsKeptStays) {
  for (const Value kept : {norm_, relu_}) {
    Fuse({kept});
    EXPECT_EQ(At(norm_).op, "BatchNorm");
  }
}

TEST_F(FuseNormTest, AGradientOfTheReluWithAnotherReaderStays) {
  graph_.Add("Tanh", "other", {relu_grad_});
  Fuse();
  EXPECT_EQ(At(norm_).op, "BatchNormRelu");
  EXPECT_EQ(At(grad_).op, "BatchNormGrad");
  EXPECT_EQ(At(relu_grad_).inputs, (std::vector<Value>{dy_, norm_}));
}

TEST_F(FuseNormTest, AGradientOfAnotherNormalizationStays) {
  const std::vector<Value> inputs = graph_.node(grad_).inputs;
  const Attributes epsilon{{"epsilon", 0.5}};
  const Value other = graph_.Add("BatchNorm", "other", {x_, scale_, offset_}, epsilon);
  for (size_t i = 1; i < 5; ++i) {
    std::vector<Value> others = inputs;
    others[0] = graph_.Add("ReluGrad", "", {dy_, relu_});
    others[i] = i == 1 ? dy_ : i == 2 ? offset_ : Value{other.node, static_cast<int>(i) - 2};
    const Value grad = graph_.Add("BatchNormGrad", "", others, epsilon);
    Fuse();
    EXPECT_EQ(At(grad).op, "BatchNormGrad") << i;
  }
  std::vector<Value> same = inputs;
  same[0] = graph_.Add("ReluGrad", "", {dy_, relu_});
  const Value grad = graph_.Add("BatchNormGrad", "", same, {{"epsilon", 0.25}});
  Fuse();
  EXPECT_EQ(At(grad).op, "BatchNormGrad");
}

TEST_F(FuseNormTest, AnOffsetToWhichTheGraphWritesIsNotReadAgain) {
  nodes_ = graph_.nodes();
  const std::vector<Value> updated = {offset_};
  FuseNodes(&nodes_, {}, [](const Node&) { return true; }, updated);
  EXPECT_EQ(At(norm_).op, "BatchNormRelu");
  EXPECT_EQ(At(grad_).op, "BatchNormGrad");
}

TEST_F(FuseNormTest, WithoutAKernelNothingIsMerged) {
  nodes_ = graph_.nodes();
  FuseNodes(&nodes_, {}, [](const Node&) { return false; });
  EXPECT_EQ(At(norm_).op, "BatchNorm");
  EXPECT_EQ(At(y_).inputs, std::vector<Value>{relu_});
}

class FuseLossTest : public testing::Test {
 protected:
  FuseLossTest() {
    logits_ = graph_.Input("logits", {DType::kFloat32, Shape({Shape::kBatch, 4})});
    labels_ = graph_.Input("labels", {DType::kInt32, Shape({Shape::kBatch})});
    loss_ = graph_.Add("SparseSoftmaxCrossEntropy", "loss", {logits_, labels_});
  }

  // The gradient, and what reads it, of the merged graph.
  void Fuse(Value dloss, const std::vector<Value>& kept = {}) {
    const Value grad = graph_.Add("SparseSoftmaxCrossEntropyGrad", "grad",
                                  {Probabilities(), labels_, dloss});
    const Value reader = graph_.Add("Tanh", "reader", {grad});
    EXPECT_TRUE(graph_.status().ok()) << graph_.status();
    nodes_ = graph_.nodes();
    FuseNodes(&nodes_, kept);
    read_ = At(reader).inputs[0];
    grad_ = grad;
  }
  Value Probabilities() const { return {loss_.node, 1}; }
  const Node& At(Value value) const { return nodes_[static_cast<size_t>(value.node)]; }

  Graph graph_;
  Value logits_, labels_, loss_, grad_, read_;
  std::vector<Node> nodes_;
};

TEST_F(FuseLossTest, ItsGradientIsMadeWithIt) {
  Fuse(graph_.Constant("one", Shape(), 0.25), {loss_});
  EXPECT_EQ(At(loss_).op, "SparseSoftmaxCrossEntropyAndGrad");
  EXPECT_EQ(At(loss_).inputs, (std::vector<Value>{logits_, labels_}));
  EXPECT_EQ(At(loss_).attributes.Number("dloss"), 0.25);
  EXPECT_EQ(read_, Probabilities());
}

TEST_F(FuseLossTest, ADlossThatIsComputedStays) {
  const Value one = graph_.Constant("one", Shape(), 1);
  Fuse(graph_.Add("Tanh", "dloss", {one}));
  EXPECT_EQ(At(loss_).op, "SparseSoftmaxCrossEntropy");
  EXPECT_EQ(read_, grad_);
}

TEST_F(FuseLossTest, ProbabilitiesWithAnotherReaderStay) {
  graph_.Add("Tanh", "other", {Probabilities()});
  Fuse(graph_.Constant("one", Shape(), 1));
  EXPECT_EQ(At(loss_).op, "SparseSoftmaxCrossEntropy");
}

TEST_F(FuseLossTest, ProbabilitiesThatAreKeptStay) {
  Fuse(graph_.Constant("one", Shape(), 1), {Probabilities()});
  EXPECT_EQ(At(loss_).op, "SparseSoftmaxCrossEntropy");
}

}  // namespace
}  // namespace taas
