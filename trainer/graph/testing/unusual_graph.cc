#include "trainer/graph/testing/unusual_graph.h"

#include <cmath>

#include "operator/base/random.h"

namespace taas {
namespace {

constexpr int64_t kInputs = 6;
constexpr int64_t kUnits1 = 8;
constexpr int64_t kUnits2 = 5;
constexpr int64_t kUnits3 = 4;

Value Weights(Graph* graph, int64_t inputs, int64_t units) {
  return graph->Variable("weights", Shape({inputs, units}),
                         Initializer::TruncatedNormal(1 / std::sqrt(double(inputs))));
}

Value Biases(Graph* graph, int64_t units) {
  // Not 0, so that a relu at its corner does not spoil numeric gradients.
  return graph->Variable("biases", Shape({units}), Initializer::Constant(0.1));
}

Value Layer(Graph* graph, Value x, Value weights, Value biases) {
  return graph->Add("BiasAdd", "", {graph->Add("MatMul", "", {x, weights}), biases});
}

}  // namespace

UnusualGraph BuildUnusualGraph() {
  UnusualGraph unusual;
  Graph* graph = &unusual.graph;
  const TensorType input{DType::kFloat32, Shape({Shape::kBatch, kInputs})};
  const Value left = graph->Input(unusual.left, input);
  const Value right = graph->Input(unusual.right, input);
  const Value targets =
      graph->Input(unusual.targets, {DType::kFloat32, Shape({Shape::kBatch, 1})});

  Value left1, right1;
  {
    const Graph::Scope scope(graph, "hidden1");
    const Value weights = Weights(graph, kInputs, kUnits1);
    const Value biases = Biases(graph, kUnits1);
    left1 = graph->Add("Sigmoid", "", {Layer(graph, left, weights, biases)});
    right1 = graph->Add("Sigmoid", "", {Layer(graph, right, weights, biases)});
  }
  Value trunk, branch;
  {
    const Graph::Scope scope(graph, "hidden2");
    const Value both = graph->Add("Concat", "", {left1, right1});
    const Value weights = Weights(graph, 2 * kUnits1, kUnits2);
    trunk = graph->Add("Tanh", "", {Layer(graph, both, weights, Biases(graph, kUnits2))});
  }
  {
    const Graph::Scope scope(graph, "branch");
    const Value product = graph->Add("Mul", "", {left1, right1});
    branch = graph->Add("MatMul", "", {product, Weights(graph, kUnits1, kUnits2)});
  }
  Value x = graph->Add("Add", "joined", {trunk, branch});
  {
    const Graph::Scope scope(graph, "hidden3");
    const Value weights = Weights(graph, kUnits2, kUnits3);
    x = graph->Add("Relu", "", {Layer(graph, x, weights, Biases(graph, kUnits3))});
  }
  {
    const Graph::Scope scope(graph, "output");
    x = Layer(graph, x, Weights(graph, kUnits3, 1), Biases(graph, 1));
  }
  graph->Add("MeanSquaredError", unusual.loss, {x, targets});
  return unusual;
}

void FillUnusualBatch(uint64_t seed, Session* session) {
  const UnusualGraph names;
  SeededRandom random(seed);
  const std::span<float> left = session->FloatInput(names.left);
  const std::span<float> right = session->FloatInput(names.right);
  const std::span<float> targets = session->FloatInput(names.targets);
  for (float& value : left) value = static_cast<float>(2 * random.Unit() - 1);
  for (float& value : right) value = static_cast<float>(2 * random.Unit() - 1);
  for (size_t row = 0; row < targets.size(); ++row) {
    float sum = 0;
    for (size_t i = 0; i < static_cast<size_t>(kInputs); ++i) {
      const size_t at = row * static_cast<size_t>(kInputs) + i;
      sum += left[at] - 0.5f * right[at];
    }
    targets[row] = std::tanh(sum);
  }
}

}  // namespace taas
