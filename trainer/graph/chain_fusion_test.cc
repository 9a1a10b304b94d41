#include "trainer/graph/chain_fusion.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/fused_program.h"

namespace taas {
namespace {

using ::testing::UnorderedElementsAre;

class ChainFusionTest : public testing::Test {
 protected:
  ChainFusionTest() {
    const TensorType type{DType::kFloat32, Shape({Shape::kBatch, 4})};
    x_ = graph_.Input("x", type);
    z_ = graph_.Input("z", type);
    bias_ = graph_.Variable("bias", Shape({4}), Initializer::Zeros());
  }
  Value Add(const char* op, std::vector<Value> inputs, Attributes attributes = {}) {
    return graph_.Add(op, "", std::move(inputs), std::move(attributes));
  }
  // The node of `value` after fusion, with `value` kept too.
  Node Fused(Value value, ChainFusion fusion = {}) {
    EXPECT_THAT(graph_.status(), IsOk());
    fusion.kept.push_back(value);
    std::vector<Node> nodes = graph_.nodes();
    FuseChains(&nodes, fusion);
    return nodes[static_cast<size_t>(value.node)];
  }
  static std::string OpsOf(const Node& node) {
    return node.op == "Fused" ? node.attributes.Text("ops") : node.op;
  }

  Graph graph_;
  Value x_, z_, bias_;
};

TEST_F(ChainFusionTest, AChainBecomesOneNodeUnderItsLastName) {
  const Value y = graph_.Add("Scale", "y", {Add("Tanh", {Add("Square", {x_})})}, {{"factor", 2.0}});
  const Node fused = Fused(y);
  EXPECT_EQ(fused.name, "y");
  EXPECT_EQ(OpsOf(fused), "Square Tanh Scale");
  EXPECT_EQ(fused.inputs, std::vector<Value>{x_});
  const auto program = Decode(fused.attributes, 1);
  ASSERT_THAT(program, IsOk());
  EXPECT_EQ(program->back().factor, 2.0f);
  EXPECT_EQ(program->back().a, ResultOf(1));
}

TEST_F(ChainFusionTest, ChainsBranchAndEachInputIsTakenOnce) {
  const Value left = Add("Tanh", {Add("BiasAdd", {x_, bias_})});
  const Value right = Add("Sigmoid", {Add("Mul", {x_, z_})});
  const Node fused = Fused(Add("AddN", {left, right, z_}));
  EXPECT_EQ(OpsOf(fused), "BiasAdd Tanh Mul Sigmoid Add Add");
  EXPECT_THAT(fused.inputs, UnorderedElementsAre(x_, z_, bias_));
  EXPECT_NE(fused.inputs[0], bias_);
}

TEST_F(ChainFusionTest, AValueWithAnotherReaderStays) {
  const Value inner = Add("Tanh", {x_});
  const Value y = Add("Square", {inner});
  const Value other = graph_.Add("ReduceSum", "", {inner});
  EXPECT_EQ(Fused(y, {.kept = {other}}).op, "Square");
  // A reader that nobody needs is none.
  EXPECT_EQ(OpsOf(Fused(y)), "Tanh Square");
}

TEST_F(ChainFusionTest, AValueThatIsKeptStays) {
  const Value inner = Add("Tanh", {x_});
  EXPECT_EQ(Fused(Add("Square", {inner}), {.kept = {inner}}).op, "Square");
}

TEST_F(ChainFusionTest, DevicesAndShapesAreBorders) {
  const Value inner = Add("Tanh", {x_});
  graph_.SetDevice("/device:CPU:1");
  EXPECT_EQ(Fused(Add("Square", {inner})).op, "Square");
  graph_.SetDevice("");
  // A vector that is added to rows is no part of a chain of matrices.
  const Value vector = Add("Tanh", {bias_});
  const Node fused = Fused(Add("Relu", {Add("BiasAdd", {x_, vector})}));
  EXPECT_EQ(OpsOf(fused), "BiasAdd Relu");
  EXPECT_THAT(fused.inputs, UnorderedElementsAre(x_, vector));
}

// An op that had moved behind the update of a variable read its new value.
TEST_F(ChainFusionTest, WhatReadsAVariableThatIsUpdatedDoesNotMove) {
  const Value mean = graph_.Variable("mean", Shape({4}), Initializer::Zeros(), false);
  const Value before = Add("Square", {mean});
  const Value y = Add("Tanh", {before});
  EXPECT_EQ(Fused(y, {.updated = {mean}}).op, "Tanh");
  EXPECT_EQ(OpsOf(Fused(y)), "Square Tanh");
}

TEST_F(ChainFusionTest, IdentityVanishes) {
  const Value sum = Add("BiasAdd", {x_, bias_});
  const Node renamed = Fused(graph_.Add("Identity", "logits", {sum}));
  EXPECT_EQ(renamed.name, "logits");
  EXPECT_EQ(renamed.op, "BiasAdd");
  EXPECT_EQ(renamed.inputs, (std::vector<Value>{x_, bias_}));
  const Node after = Fused(Add("Scale", {Add("Identity", {z_})}, {{"factor", 3.0}}));
  EXPECT_EQ(after.op, "Scale");
  EXPECT_EQ(after.inputs, std::vector<Value>{z_});
  EXPECT_EQ(after.attributes.Number("factor"), 3.0);
  // Of a leaf it is a copy.
  EXPECT_EQ(Fused(Add("Identity", {x_})).op, "Identity");
}

TEST_F(ChainFusionTest, ASumOfManyKeepsItsKernel) {
  EXPECT_EQ(Fused(Add("AddN", {x_, z_, x_})).op, "AddN");
}

TEST_F(ChainFusionTest, LongChainsAreCut) {
  Value y = x_;
  for (int i = 0; i < 40; ++i) y = Add("Tanh", {y});
  const Node fused = Fused(y);
  EXPECT_EQ(fused.op, "Fused");
  EXPECT_LE(fused.attributes.Ints("program").size(), 16u * 4);
  const Value sum = [&] {
    Value total = x_;
    for (int i = 0; i < 30; ++i) {
      const TensorType type = graph_.type(x_);
      total = Add("Add", {total, graph_.Input("in" + std::to_string(i), type)});
    }
    return total;
  }();
  EXPECT_LE(Fused(sum).inputs.size(), 8u);
}

TEST_F(ChainFusionTest, TheInputThatEndsHereComesFirst) {
  const Value product = graph_.Add("Pad", "", {graph_.Add("Slice", "", {x_}, {{"begin", 0},
                                   {"size", 3}})}, {{"before", 0}, {"after", 1}});
  const Node fused = Fused(Add("Tanh", {Add("Mul", {z_, product})}));
  EXPECT_EQ(fused.inputs, (std::vector<Value>{product, z_}));
  const auto program = Decode(fused.attributes, 2);
  ASSERT_THAT(program, IsOk());
  EXPECT_EQ((*program)[0].a, 1);
  EXPECT_EQ((*program)[0].b, 0);
}

TEST_F(ChainFusionTest, WithoutAKernelNothingIsMerged) {
  const Value y = Add("Square", {Add("Tanh", {x_})});
  EXPECT_EQ(Fused(y, {.can_run = [](const Node&) { return false; }}).op, "Square");
}

TEST(FusedProgramTest, NonsenseIsRefused) {
  const auto decode = [](std::vector<int64_t> words) {
    return Decode({{"program", std::move(words)}, {"ops", std::string()}}, 2);
  };
  EXPECT_THAT(decode({0, 0, 1, 0}), IsOk());
  for (const std::vector<int64_t>& words :
       {std::vector<int64_t>{}, {0, 0, 1}, {99, 0, 1, 0}, {0, 2, 1, 0}, {0, -1, 1, 0},
        {0, 0, 2, 0}, {11, 0, -1, 0}}) {
    EXPECT_THAT(decode(words), StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

}  // namespace
}  // namespace taas
