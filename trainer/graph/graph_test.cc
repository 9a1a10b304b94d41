#include "trainer/graph/graph.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/ops.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kBatch = Shape::kBatch;

Value FloatInput(Graph* graph, std::string_view name, Shape shape) {
  return graph->Input(name, {DType::kFloat32, std::move(shape)});
}

TEST(ShapeTest, BatchIsSymbolicUntilItIsSet) {
  const Shape shape({kBatch, 784});
  EXPECT_TRUE(shape.has_batch());
  EXPECT_EQ(shape.ToString(), "[batch, 784]");
  EXPECT_EQ(shape.WithBatch(100).count(), 78400);
  EXPECT_EQ(shape.CountWithBatch(100), 78400);
  EXPECT_EQ(Shape().count(), 1);
  EXPECT_EQ(Shape({0, 5}).count(), 0);
}

struct InferCase {
  const char* name;
  const char* op;
  std::vector<Shape> inputs;
  Attributes attributes;
  Shape want;
};

class InferTest : public testing::TestWithParam<InferCase> {};

TEST_P(InferTest, OutputShapeFollowsFromInputs) {
  Graph graph;
  std::vector<Value> inputs;
  for (size_t i = 0; i < GetParam().inputs.size(); ++i) {
    inputs.push_back(FloatInput(&graph, "x" + std::to_string(i), GetParam().inputs[i]));
  }
  const Value y = graph.Add(GetParam().op, "y", inputs, GetParam().attributes);
  ASSERT_THAT(graph.status(), IsOk());
  EXPECT_EQ(graph.type(y).shape.ToString(), GetParam().want.ToString());
}

using Ints = std::vector<int64_t>;

INSTANTIATE_TEST_SUITE_P(
    Table, InferTest,
    testing::Values(
        InferCase{"MatMul", "MatMul", {{kBatch, 3}, {3, 5}}, {}, {kBatch, 5}},
        InferCase{"MatMulTransposed", "MatMul", {{3, kBatch}, {5, 3}},
                  {{"transpose_a", true}, {"transpose_b", true}}, {kBatch, 5}},
        InferCase{"ConcatAlongColumns", "Concat", {{kBatch, 3}, {kBatch, 4}}, {}, {kBatch, 7}},
        InferCase{"Slice", "Slice", {{kBatch, 9}}, {{"begin", 2}, {"size", 4}}, {kBatch, 4}},
        InferCase{"Pad", "Pad", {{kBatch, 9}}, {{"before", 2}, {"after", 4}}, {kBatch, 15}},
        InferCase{"ReshapeKeepsTheBatch", "Reshape", {{kBatch, 6}},
                  {{"shape", Ints{2, kBatch, 3}}}, {2, kBatch, 3}},
        InferCase{"ReduceAll", "ReduceMean", {{kBatch, 6}}, {}, {}},
        InferCase{"ReduceRows", "ReduceSum", {{kBatch, 6}}, {{"axes", Ints{0}}}, {6}},
        InferCase{"ReduceMiddle", "ReduceSum", {{2, 3, 5, 7}}, {{"axes", Ints{1, 2}}}, {2, 7}},
        InferCase{"Expand", "Expand", {{6}}, {{"shape", Ints{kBatch, 6}}, {"axes", Ints{0}}},
                  {kBatch, 6}},
        InferCase{"ArgMax", "ArgMax", {{kBatch, 6}}, {}, {kBatch}}),
    [](const auto& info) { return std::string(info.param.name); });

struct RefusedCase {
  const char* name;
  const char* op;
  std::vector<Shape> inputs;
  Attributes attributes;
  const char* message;
};

class RefusedTest : public testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedTest, MessageNamesNodeOpAndInputTypes) {
  Graph graph;
  std::vector<Value> inputs;
  for (size_t i = 0; i < GetParam().inputs.size(); ++i) {
    inputs.push_back(FloatInput(&graph, "x" + std::to_string(i), GetParam().inputs[i]));
  }
  const Graph::Scope scope(&graph, "layer");
  graph.Add(GetParam().op, "y", inputs, GetParam().attributes);
  EXPECT_THAT(graph.status(), StatusIs(absl::StatusCode::kInvalidArgument,
                                       AllOf(HasSubstr(GetParam().op), HasSubstr("layer/y"),
                                             HasSubstr(GetParam().message))));
}

INSTANTIATE_TEST_SUITE_P(
    Table, RefusedTest,
    testing::Values(
        RefusedCase{"InnerDimensions", "MatMul", {{kBatch, 3}, {4, 5}}, {},
                    "(float32[batch, 3], float32[4, 5]): the inner dimensions differ"},
        RefusedCase{"NotMatrices", "MatMul", {{3}, {3, 5}}, {}, "both must be matrices"},
        RefusedCase{"UnequalShapes", "Add", {{3}, {4}}, {}, "must have one shape"},
        RefusedCase{"BiasTooShort", "BiasAdd", {{kBatch, 3}, {4}}, {}, "as long as the last axis"},
        RefusedCase{"TooFewInputs", "Add", {{3}}, {}, "takes 2 inputs, got 1"},
        RefusedCase{"MissingAttribute", "Scale", {{3}}, {}, "attribute factor is missing"},
        RefusedCase{"UnknownAttribute", "Relu", {{3}}, {{"alpha", 1.0}}, "unknown attribute alpha"},
        RefusedCase{"AttributeOfAnotherType", "Scale", {{3}}, {{"factor", true}},
                    "attribute factor has the wrong type"},
        RefusedCase{"SliceOutside", "Slice", {{2, 3}}, {{"begin", 2}, {"size", 2}},
                    "elements 2 to 4 of axis 1 do not all exist"},
        RefusedCase{"SliceOfTheBatch", "Slice", {{kBatch}},
                    {{"axis", 0}, {"begin", 0}, {"size", 1}}, "batch axis"},
        RefusedCase{"NoSuchAxis", "Concat", {{3}, {3}}, {}, "there is no axis 1"},
        RefusedCase{"ReshapeToAnotherSize", "Reshape", {{kBatch, 6}},
                    {{"shape", Ints{kBatch, 5}}}, "another number of elements"},
        RefusedCase{"ReduceAxesApart", "ReduceSum", {{2, 3, 4}}, {{"axes", Ints{0, 2}}},
                    "neighbouring axes"},
        RefusedCase{"UnknownOp", "Convolve", {{3}}, {}, "there are Accuracy, Add, AddN"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(GraphTest, FirstErrorSticksAndLaterCallsDoNothing) {
  Graph graph;
  const Value x = FloatInput(&graph, "x", {2, 3});
  const Value bad = graph.Add("MatMul", "first", {x, x});
  EXPECT_FALSE(bad.valid());
  graph.Add("Add", "second", {bad, x});
  EXPECT_THAT(graph.status(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("first")));
  EXPECT_EQ(graph.nodes().size(), 1u);
}

TEST(GraphTest, ScopesNameNodesAndTakenNamesGetASuffix) {
  Graph graph;
  const Value x = FloatInput(&graph, "x", {3});
  {
    const Graph::Scope outer(&graph, "tower0");
    const Graph::Scope inner(&graph, "hidden1");
    EXPECT_EQ(graph.NameOf(graph.Add("Relu", "", {x})), "tower0/hidden1/Relu");
    EXPECT_EQ(graph.NameOf(graph.Add("Relu", "", {x})), "tower0/hidden1/Relu_1");
  }
  EXPECT_EQ(graph.NameOf(graph.Add("Relu", "y", {x})), "y");
}

TEST(GraphTest, SecondVariableOfOneNameIsRefused) {
  Graph graph;
  graph.Variable("w", Shape({2}), Initializer::Zeros());
  graph.Variable("w", Shape({2}), Initializer::Zeros());
  EXPECT_THAT(graph.status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"w\": the name is taken")));
}

TEST(GraphTest, VariableWithAnOpenDimensionIsRefused) {
  Graph graph;
  graph.Variable("w", Shape({kBatch, 2}), Initializer::Zeros());
  EXPECT_THAT(graph.status(), StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("bad shape [batch, 2]")));
}

TEST(GraphTest, ValuesAreFoundByNameAndOutput) {
  Graph graph;
  const Value logits = FloatInput(&graph, "logits", {kBatch, 3});
  const Value labels = graph.Input("labels", {DType::kInt32, Shape({kBatch})});
  const Value loss = graph.Add("SparseSoftmaxCrossEntropy", "loss", {logits, labels});
  ASSERT_THAT(graph.Find("loss"), IsOk());
  EXPECT_EQ(*graph.Find("loss"), loss);
  ASSERT_THAT(graph.Find("loss:1"), IsOk());
  EXPECT_EQ(graph.type(*graph.Find("loss:1")).ToString(), "float32[batch, 3]");
  EXPECT_THAT(graph.Find("loss:2"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(graph.Find("los"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("logits, labels, loss")));
}

TEST(OpRegistryTest, ProgramsAddOpsOfTheirOwn) {
  OpRegistry ops = StandardOps();
  ASSERT_THAT(ops.Add({.name = "Cube", .infer = SameAsFirst, .cost = ElementwiseCost(2)}), IsOk());
  EXPECT_THAT(ops.Add({.name = "Cube", .infer = SameAsFirst, .cost = ElementwiseCost(2)}),
              StatusIs(absl::StatusCode::kAlreadyExists));
  Graph graph(&ops);
  graph.Add("Cube", "y", {FloatInput(&graph, "x", {3})});
  EXPECT_THAT(graph.status(), IsOk());
}

}  // namespace
}  // namespace taas
