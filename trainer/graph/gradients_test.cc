#include "trainer/graph/gradients.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/gradient_check.h"
#include "trainer/graph/ops.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/cpu_runtime.h"

namespace taas {
namespace {

using ::testing::HasSubstr;
using Ints = std::vector<int64_t>;

// One op applied to variables; the loss is the sum of its outputs, each weighted differently.
struct OpCase {
  const char* name;
  const char* op;
  std::vector<Shape> inputs;
  Attributes attributes = {};
  double low = -1;  // Of the variables: away from the corner of a relu.
  double high = 1;
  std::vector<int32_t> numbers = {};  // A last input that has no gradient: labels, ids.
};

// One line per op, and more where its attributes or sizes take another way through it. An op with a
// gradient that is not here fails EveryOpWithAGradientIsChecked.
const OpCase kOpCases[] = {
    OpCase{"MatMul", "MatMul", {{3, 5}, {5, 2}}},
    OpCase{"MatMulTransposeA", "MatMul", {{5, 3}, {5, 2}}, {{"transpose_a", true}}},
    OpCase{"MatMulTransposeB", "MatMul", {{3, 5}, {2, 5}}, {{"transpose_b", true}}},
    OpCase{"MatMulTransposeBoth", "MatMul", {{5, 3}, {2, 5}},
           {{"transpose_a", true}, {"transpose_b", true}}},
    OpCase{"Add", "Add", {{3, 5}, {3, 5}}},
    OpCase{"Sub", "Sub", {{3, 5}, {3, 5}}},
    OpCase{"Mul", "Mul", {{3, 5}, {3, 5}}},
    OpCase{"AddN", "AddN", {{7}, {7}, {7}}},
    OpCase{"BiasAdd", "BiasAdd", {{3, 5}, {5}}},
    OpCase{"BiasAddOfThreeAxes", "BiasAdd", {{2, 3, 5}, {5}}},
    OpCase{"BiasAddOfOneAxis", "BiasAdd", {{5}, {5}}},
    OpCase{"BiasAddReluOpen", "BiasAddRelu", {{3, 5}, {5}}, {}, 0.1, 1},
    OpCase{"BiasAddReluClosed", "BiasAddRelu", {{3, 5}, {5}}, {}, -1, -0.1},
    OpCase{"Scale", "Scale", {{7}}, {{"factor", -2.5}}},
    OpCase{"Square", "Square", {{7}}},
    OpCase{"L1LossAbove", "L1Loss", {{3, 7}}, {}, 0.1, 1},
    OpCase{"L1LossBelow", "L1Loss", {{3, 7}}, {}, -1, -0.1},
    OpCase{"L2Loss", "L2Loss", {{3, 7}}},
    OpCase{"Identity", "Identity", {{7}}},
    OpCase{"ReluOpen", "Relu", {{7}}, {}, 0.1, 1},
    OpCase{"ReluClosed", "Relu", {{7}}, {}, -1, -0.1},
    OpCase{"Sigmoid", "Sigmoid", {{7}}, {}, -3, 3},
    OpCase{"Tanh", "Tanh", {{7}}, {}, -3, 3},
    OpCase{"Concat", "Concat", {{3, 2}, {3, 1}, {3, 4}}},
    OpCase{"ConcatRows", "Concat", {{3, 2}, {1, 2}}, {{"axis", 0}}},
    OpCase{"Slice", "Slice", {{3, 7}}, {{"begin", 2}, {"size", 3}}},
    OpCase{"SliceMiddleAxis", "Slice", {{2, 5, 3}}, {{"begin", 1}, {"size", 2}}},
    OpCase{"Pad", "Pad", {{3, 2}}, {{"before", 1}, {"after", 2}}},
    OpCase{"Reshape", "Reshape", {{3, 4}}, {{"shape", Ints{2, 6}}}},
    OpCase{"ReduceSumAll", "ReduceSum", {{3, 4}}},
    OpCase{"ReduceSumRows", "ReduceSum", {{3, 4}}, {{"axes", Ints{0}}}},
    OpCase{"ReduceMeanColumns", "ReduceMean", {{3, 4}}, {{"axes", Ints{1}}}},
    OpCase{"ReduceMeanMiddle", "ReduceMean", {{2, 3, 4}}, {{"axes", Ints{1}}}},
    OpCase{"ReduceMeanAll", "ReduceMean", {{3, 4}}},
    OpCase{"Expand", "Expand", {{4}}, {{"shape", Ints{3, 4}}, {"axes", Ints{0}}}},
    OpCase{"ExpandMean", "Expand", {{3}},
           {{"shape", Ints{3, 4}}, {"axes", Ints{1}}, {"mean", true}}},
    OpCase{"MeanSquaredError", "MeanSquaredError", {{3, 4}, {3, 4}}},
    OpCase{"Conv2D", "Conv2D", {{2, 5, 4, 3}, {3, 3, 3, 2}}},
    OpCase{"Conv2DValid", "Conv2D", {{2, 5, 4, 3}, {2, 3, 3, 2}}, {{"padding", "VALID"}}},
    OpCase{"Conv2DStrides", "Conv2D", {{2, 6, 5, 2}, {3, 2, 2, 3}},
           {{"strides", Ints{2, 3}}}},
    OpCase{"Conv2DExplicit", "Conv2D", {{1, 4, 4, 1}, {3, 3, 1, 2}},
           {{"padding", "EXPLICIT"}, {"explicit_paddings", Ints{2, 0, 0, 1}}}},
    OpCase{"Conv2DOfOnePixel", "Conv2D", {{3, 4, 4, 5}, {1, 1, 5, 4}}},
    OpCase{"MaxPool", "MaxPool", {{2, 4, 4, 3}}, {{"strides", Ints{2, 2}}}, -9, 9},
    OpCase{"MaxPoolOverlaps", "MaxPool", {{1, 5, 4, 2}},
           {{"size", Ints{3, 2}}, {"strides", Ints{2, 1}}}, -9, 9},
    OpCase{"AvgPool", "AvgPool", {{2, 5, 4, 3}}, {{"strides", Ints{2, 2}}}},
    OpCase{"AvgPoolValid", "AvgPool", {{2, 5, 4, 3}},
           {{"size", Ints{3, 2}}, {"padding", "VALID"}}},
    OpCase{"BatchNorm", "BatchNorm", {{2, 3, 3, 4}, {4}, {4}}},
    OpCase{"BatchNormOfRows", "BatchNorm", {{9, 3}, {3}, {3}}, {{"epsilon", 0.1}}},
    OpCase{"Dropout", "Dropout", {{5, 6}}, {{"rate", 0.5}}},
    OpCase{"MatMulOfThreeAxes", "MatMul", {{2, 3, 5}, {5, 4}}},
    OpCase{"MatMulOfThreeAxesTransposeB", "MatMul", {{2, 3, 5}, {4, 5}}, {{"transpose_b", true}}},
    OpCase{"MatMulOverRowsOfThreeAxes", "MatMul", {{2, 3, 5}, {2, 3, 4}},
           {{"transpose_a", true}}},
    OpCase{"LayerNorm", "LayerNorm", {{3, 7}, {7}, {7}}},
    OpCase{"LayerNormOfThreeAxes", "LayerNorm", {{2, 3, 70}, {70}, {70}}, {{"epsilon", 0.1}}},
    OpCase{"Gelu", "Gelu", {{7, 3}}, {}, -3, 3},
    OpCase{"Attention", "Attention", {{2, 5, 18}}, {{"heads", int64_t{3}}}},
    OpCase{"AttentionOfAll", "Attention", {{2, 3, 12}},
           {{"heads", int64_t{1}}, {"causal", false}}},
    OpCase{"AttentionOfBlocks", "Attention", {{1, 67, 6}}, {{"heads", int64_t{1}}}},
    OpCase{"SwapLeading", "SwapLeading", {{3, 2, 4}}},
    OpCase{"Lstm", "Lstm", {{4, 2, 3}, {3, 20}, {5, 20}, {20}}},
    OpCase{"LstmOfOneStep", "Lstm", {{1, 2, 3}, {3, 8}, {2, 8}, {8}}},
    OpCase{"EmbeddingOfOneIdSeveralTimes", "Embedding", {{4, 3}}, {}, -1, 1, {3, 0, 3, 1, 3}},
    OpCase{"SparseSoftmaxCrossEntropy", "SparseSoftmaxCrossEntropy", {{5, 3}}, {}, -4, 4,
           {0, 1, 2, 0, 1}},
};

class OpGradientTest : public testing::TestWithParam<OpCase> {};

TEST_P(OpGradientTest, AgreesWithDifferencesOfTheLoss) {
  const OpCase& test = GetParam();
  Graph graph;
  std::vector<Value> inputs;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    inputs.push_back(graph.Variable("x" + std::to_string(i), test.inputs[i],
                                    Initializer::Uniform(test.low, test.high)));
  }
  const bool looks_up = std::string_view(test.op) == "Embedding";
  if (!test.numbers.empty()) {
    const DType type = looks_up ? DType::kInt64 : DType::kInt32;
    inputs.push_back(graph.Input("numbers", {type, Shape({std::ssize(test.numbers)})}));
  }
  const Value y = graph.Add(test.op, "y", inputs, test.attributes);
  const Value weights = graph.Variable("weights", graph.type(y).shape,
                                       Initializer::Uniform(0.5, 1.5), /*trainable=*/false);
  graph.Add("ReduceSum", "loss", {graph.Add("Mul", "", {y, weights})});
  auto session = Session::Compile(CpuRuntime(), graph, {.loss = "loss"});
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT((*session)->InitializeVariables(/*seed=*/7), IsOk());
  if (looks_up) {
    std::ranges::copy(test.numbers, (*session)->Int64Input("numbers").begin());
  } else if (!test.numbers.empty()) {
    std::ranges::copy(test.numbers, (*session)->Int32Input("numbers").begin());
  }
  CheckGradients(session->get());
}

INSTANTIATE_TEST_SUITE_P(Table, OpGradientTest, testing::ValuesIn(kOpCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(GradientsTest, EveryOpWithAGradientIsChecked) {
  std::set<std::string> checked;
  for (const OpCase& test : kOpCases) checked.insert(test.op);
  for (const auto& [name, definition] : StandardOps().ops()) {
    if (definition.gradient == nullptr) continue;
    EXPECT_TRUE(checked.contains(name))
        << name << " has a gradient that nothing compares with differences of the loss: add it to "
        << "kOpCases";
  }
  for (const std::string& name : checked) {
    const OpDefinition* const definition = StandardOps().Find(name);
    EXPECT_TRUE(definition != nullptr && definition->gradient != nullptr) << name;
  }
}

TEST(GradientsTest, UsesOfOneValueAreSummed) {
  Graph graph;
  const Value x = graph.Variable("x", Shape({4}), Initializer::Uniform(-1, 1));
  // x³ + tanh(x) + x: four uses, two of them in one op.
  const Value cube = graph.Add("Mul", "", {graph.Add("Mul", "", {x, x}), x});
  const Value sum = graph.Add("AddN", "", {cube, graph.Add("Tanh", "", {x}), x});
  graph.Add("ReduceSum", "loss", {sum});
  auto session = Session::Compile(CpuRuntime(), graph, {.loss = "loss"});
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT((*session)->InitializeVariables(3), IsOk());
  CheckGradients(session->get());
}

TEST(GradientsTest, VariableWithoutInfluenceGetsZeros) {
  Graph graph;
  const Value x = graph.Variable("x", Shape({2}), Initializer::Constant(1));
  graph.Variable("idle", Shape({3}), Initializer::Constant(1));
  graph.Add("ReduceSum", "loss", {x});
  auto session = Session::Compile(CpuRuntime(), graph, {.loss = "loss"});
  ASSERT_THAT(session, IsOk());
  std::ranges::fill((*session)->gradient(1).host(), 5.0f);
  ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
  EXPECT_THAT((*session)->gradient(0).host(), testing::ElementsAre(1, 1));
  EXPECT_THAT((*session)->gradient(1).host(), testing::ElementsAre(0, 0, 0));
}

TEST(GradientsTest, VariablesWithOneGradientHaveItTwice) {
  Graph graph;
  const Value x = graph.Variable("x", Shape({2}), Initializer::Constant(1));
  const Value y = graph.Variable("y", Shape({2}), Initializer::Constant(1));
  graph.Add("ReduceSum", "loss", {graph.Add("Add", "", {x, y})});
  auto session = Session::Compile(CpuRuntime(), graph, {.loss = "loss"});
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
  EXPECT_NE((*session)->gradient(0).host().data(), (*session)->gradient(1).host().data());
  EXPECT_THAT((*session)->gradient(0).host(), testing::ElementsAre(1, 1));
  EXPECT_THAT((*session)->gradient(1).host(), testing::ElementsAre(1, 1));
}

TEST(GradientsTest, LossThatIsNoScalarIsRefused) {
  Graph graph;
  const Value x = graph.Variable("x", Shape({2}), Initializer::Zeros());
  EXPECT_THAT(AddGradients(&graph, x, graph.Variables()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("float32[2]")));
}

TEST(GradientsTest, OpWithoutGradientOnTheWayIsRefusedByName) {
  OpRegistry ops = StandardOps();
  MustAdd(&ops, {.name = "Step", .infer = SameAsFirst, .cost = ElementwiseCost(1)});
  Graph graph(&ops);
  const Value x = graph.Variable("x", Shape({2}), Initializer::Zeros());
  const Value loss = graph.Add("ReduceSum", "loss", {graph.Add("Step", "steps", {x})});
  EXPECT_THAT(
      AddGradients(&graph, loss, graph.Variables()),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("steps: op Step has no gradient")));
}

TEST(GradientsTest, NoNodeIsMadeForTheGradientOfAnInput) {
  Graph graph;
  const Value x = graph.Input("x", {DType::kFloat32, Shape({Shape::kBatch, 3})});
  const Value w = graph.Variable("w", Shape({3, 2}), Initializer::Zeros());
  const Value loss = graph.Add("ReduceSum", "loss", {graph.Add("MatMul", "", {x, w})});
  ASSERT_THAT(AddGradients(&graph, loss, graph.Variables()), IsOk());
  int products = 0;
  for (const Node& node : graph.nodes()) products += node.op == "MatMul" ? 1 : 0;
  EXPECT_EQ(products, 2);  // Forward, and the gradient of w.
}

}  // namespace
}  // namespace taas
