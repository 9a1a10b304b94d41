#include "trainer/graph/product_fusion.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/gradients.h"

namespace taas {
namespace {

// One layer, and its gradients.
class ProductFusionTest : public testing::Test {
 protected:
  // Of one as long as the rows are `steps` of each example; 0: an example is a row.
  void Build(int64_t steps = 0) {
    Shape rows({Shape::kBatch, 3});
    if (steps > 0) rows = Shape({Shape::kBatch, steps, 3});
    x_ = graph_.Input("x", {DType::kFloat32, rows});
    w_ = graph_.Variable("w", Shape({3, 4}), Initializer::Zeros());
    b_ = graph_.Variable("b", Shape({4}), Initializer::Zeros());
    product_ = graph_.Add("MatMul", "product", {x_, w_});
    sum_ = graph_.Add("BiasAdd", "sum", {product_, b_});
  }
  void AddLossOf(Value y) {
    const Value loss = graph_.Add("ReduceMean", "loss", {graph_.Add("Square", "", {y})});
    const Value trained[] = {w_, b_};
    auto gradients = AddGradients(&graph_, loss, trained);
    ASSERT_THAT(gradients, IsOk());
    fusion_.kept.push_back(loss);
    fusion_.gradients = *std::move(gradients);
  }
  void Fuse() {
    ASSERT_THAT(graph_.status(), IsOk());
    nodes_ = graph_.nodes();
    moved_ = FuseProducts(&nodes_, fusion_);
  }
  const Node& At(Value value) const { return nodes_[static_cast<size_t>(value.node)]; }
  const Value& weights_gradient() const { return fusion_.gradients[0]; }
  const Value& bias_gradient() const { return fusion_.gradients[1]; }

  Graph graph_;
  Value x_, w_, b_, product_, sum_;
  ProductFusion fusion_;
  std::vector<Node> nodes_;
  std::map<Value, Value> moved_;
};

TEST_F(ProductFusionTest, TheBiasIsAddedByItsProduct) {
  Build();
  AddLossOf(graph_.Add("Tanh", "", {sum_}));
  Fuse();
  EXPECT_EQ(At(sum_).op, "MatMulBias");
  EXPECT_EQ(At(sum_).inputs, (std::vector<Value>{x_, w_, b_}));
  EXPECT_FALSE(At(sum_).attributes.Bool("transpose_b"));
  EXPECT_EQ(At(sum_).outputs, graph_.node(sum_).outputs);
}

TEST_F(ProductFusionTest, ATransposedFactorStaysTransposed) {
  Build();
  const Value product = graph_.Add("MatMul", "", {x_, graph_.Variable("v", Shape({4, 3}), {})},
                                   {{"transpose_b", true}});
  sum_ = graph_.Add("BiasAdd", "", {product, b_});
  fusion_.kept = {sum_};
  Fuse();
  EXPECT_EQ(At(sum_).op, "MatMulBias");
  EXPECT_TRUE(At(sum_).attributes.Bool("transpose_b"));
}

TEST_F(ProductFusionTest, AProductThatSomebodyElseReadsOrThatIsKeptStays) {
  for (const bool kept : {false, true}) {
    graph_ = Graph();
    fusion_ = {};
    Build();
    fusion_.kept = {sum_, kept ? product_ : graph_.Add("Tanh", "other", {product_})};
    Fuse();
    EXPECT_EQ(At(sum_).op, "BiasAdd") << kept;
  }
}

// Nobody needs it, so it does not count as a reader.
TEST_F(ProductFusionTest, WhatNobodyNeedsReadsNothing) {
  Build();
  graph_.Add("Tanh", "other", {product_});
  fusion_.kept = {sum_};
  Fuse();
  EXPECT_EQ(At(sum_).op, "MatMulBias");
}

TEST_F(ProductFusionTest, AProductOfAVariableThatTheGraphUpdatesDoesNotMove) {
  Build();
  fusion_.kept = {sum_};
  fusion_.updated = {w_};
  Fuse();
  EXPECT_EQ(At(sum_).op, "BiasAdd");
}

TEST_F(ProductFusionTest, OnAnotherDeviceOrWithoutAKernelNothingIsMerged) {
  Build();
  graph_.SetDevice("/device:CPU:1");
  const Value there = graph_.Add("BiasAdd", "there", {product_, b_});
  fusion_.kept = {there};
  Fuse();
  EXPECT_EQ(At(there).op, "BiasAdd");
  fusion_.kept = {sum_};
  fusion_.can_run = [](const Node&) { return false; };
  Fuse();
  EXPECT_EQ(At(sum_).op, "BiasAdd");
}

TEST_F(ProductFusionTest, TheBiasGradientIsOutputOneOfTheWeightsGradient) {
  for (const int64_t steps : {0, 5}) {
    graph_ = Graph();
    fusion_ = {};
    Build(steps);
    AddLossOf(graph_.Add("Tanh", "", {sum_}));
    Fuse();
    const Node& product = At(weights_gradient());
    EXPECT_EQ(product.op, "MatMulBiasGrad") << steps;
    ASSERT_EQ(product.outputs.size(), 2u);
    EXPECT_EQ(product.outputs[1], graph_.type(b_));
    EXPECT_EQ(moved_, (std::map<Value, Value>{{bias_gradient(), {weights_gradient().node, 1}}}));
  }
}

// With a penalty the bias's gradient is a sum of two, of which one moves.
TEST_F(ProductFusionTest, WhoeverReadsTheBiasGradientReadsItWhereItIsNow) {
  Build();
  const Value loss = graph_.Add("ReduceMean", "", {graph_.Add("Square", "", {sum_})});
  const Value whole = graph_.Add("Add", "", {loss, graph_.Add("L2Loss", "", {b_})});
  const Value trained[] = {w_, b_};
  auto gradients = AddGradients(&graph_, whole, trained);
  ASSERT_THAT(gradients, IsOk());
  fusion_ = {.kept = {whole}, .gradients = *std::move(gradients)};
  Fuse();
  EXPECT_EQ(At(weights_gradient()).op, "MatMulBiasGrad");
  const Node& sum = At(bias_gradient());
  EXPECT_EQ(sum.op, "AddN");
  EXPECT_EQ(std::ranges::count(sum.inputs, Value{weights_gradient().node, 1}), 1);
}

// The mean of its gradients reads the sum in front of the product, where it is not yet there.
TEST_F(ProductFusionTest, ASumThatIsReadInFrontOfTheProductOrThatIsFetchedStays) {
  for (const bool fetched : {false, true}) {
    graph_ = Graph();
    fusion_ = {};
    Build();
    const Value sum = graph_.Add("ReduceSum", "rows", {sum_}, {{"axes", std::vector<int64_t>{0}}});
    const Value reader = graph_.Add("Tanh", "", {sum});
    const Value product = graph_.Add("MatMul", "", {x_, sum_}, {{"transpose_a", true}});
    fusion_.kept = {product, fetched ? sum : reader};
    Fuse();
    EXPECT_EQ(At(product).op, "MatMul") << fetched;
    EXPECT_EQ(moved_.size(), 0u);
  }
}

// A sum over columns, or over rows of an axis alone, is another one.
TEST_F(ProductFusionTest, OnlyASumOverAllRowsMoves) {
  Build(/*steps=*/5);
  const Value product = graph_.Add("MatMul", "", {x_, sum_}, {{"transpose_a", true}});
  for (const std::vector<int64_t>& axes :
       {std::vector<int64_t>{0}, std::vector<int64_t>{1}, std::vector<int64_t>{}}) {
    fusion_.kept = {product};
    fusion_.gradients = {graph_.Add("ReduceSum", "", {sum_}, {{"axes", axes}})};
    Fuse();
    EXPECT_EQ(At(product).op, "MatMul");
  }
}

}  // namespace
}  // namespace taas
