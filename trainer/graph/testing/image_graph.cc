#include "trainer/graph/testing/image_graph.h"

#include <cmath>
#include <vector>

#include "operator/base/random.h"

namespace taas {
namespace {

constexpr int64_t kColours = 3;
constexpr int64_t kClasses = 10;

class Builder {
 public:
  Builder(Graph* graph, int64_t channels) : graph_(*graph), channels_(channels) {}

  // Conv and BatchNorm under a scope.
  Value Normalized(const std::string& name, Value x) {
    const Graph::Scope scope(&graph_, name);
    const int64_t from = graph_.type(x).shape.dim(3);
    const double deviation = std::sqrt(2.0 / static_cast<double>(9 * from));
    const Value w = graph_.Variable("weights", Shape({3, 3, from, channels_}),
                                    Initializer::TruncatedNormal(deviation));
    weights_.push_back(w);
    const Value y = graph_.Add("Conv2D", "conv", {x, w});
    const Shape channels({channels_});
    const Value scale = graph_.Variable("scale", channels, Initializer::Constant(1));
    const Value offset = graph_.Variable("offset", channels, Initializer::Constant(0.1));
    const Value mean = graph_.Variable("mean", channels, Initializer::Zeros(), false);
    const Value variance = graph_.Variable("variance", channels, Initializer::Constant(1), false);
    const Value norm = graph_.Add("BatchNorm", "norm", {y, scale, offset});
    graph_.AddUpdate(
        graph_.Add("MovingAverage", "move_mean", {mean, {norm.node, 1}}, {{"decay", 0.9}}));
    graph_.AddUpdate(graph_.Add("MovingAverage", "move_variance", {variance, {norm.node, 3}},
                                {{"decay", 0.9}}));
    return norm;
  }

  Value Block(const std::string& name, Value x) {
    const Graph::Scope scope(&graph_, name);
    const Value first = graph_.Add("Relu", "relu1", {Normalized("1", x)});
    return graph_.Add("Relu", "relu2", {graph_.Add("Add", "sum", {Normalized("2", first), x})});
  }

  // Of all weights.
  Value Penalty(double l2) {
    std::vector<Value> parts;
    for (const Value w : weights_) parts.push_back(graph_.Add("L2Loss", "l2", {w}));
    return graph_.Add("Scale", "penalty", {graph_.Add("AddN", "l2_sum", parts)},
                      {{"factor", l2}});
  }

 private:
  Graph& graph_;
  const int64_t channels_;
  std::vector<Value> weights_;
};

}  // namespace

ImageGraph BuildImageGraph(const ImageGraphShape& shape) {
  ImageGraph images;
  Graph& graph = images.graph;
  Builder builder(&graph, shape.channels);
  const Value x = graph.Input(
      images.images, {DType::kFloat32, Shape({Shape::kBatch, shape.size, shape.size, kColours})});
  const Value labels = graph.Input(images.labels, {DType::kInt32, Shape({Shape::kBatch})});
  Value y = graph.Add("Relu", "stem/relu", {builder.Normalized("stem", x)});
  for (int64_t block = 0; block < shape.blocks; ++block) {
    y = builder.Block("block" + std::to_string(block), y);
  }
  y = graph.Add("AvgPool", "pool", {y}, {{"strides", std::vector<int64_t>{2, 2}}});
  const int64_t features = shape.size / 2 * (shape.size / 2) * shape.channels;
  y = graph.Add("Reshape", "flat", {y},
                {{"shape", std::vector<int64_t>{Shape::kBatch, features}}});
  y = graph.Add("Dropout", "dropout", {y}, {{"rate", 0.25}});
  const Value w = graph.Variable("output/weights", Shape({features, kClasses}),
                                 Initializer::TruncatedNormal(0.1));
  const Value b = graph.Variable("output/biases", Shape({kClasses}), Initializer::Zeros());
  const Value logits =
      graph.Add("BiasAdd", images.logits, {graph.Add("MatMul", "output/product", {y, w}), b});
  const Value error = graph.Add("SparseSoftmaxCrossEntropy", "xentropy", {logits, labels});
  if (shape.l2 > 0) graph.Add("Add", images.loss, {error, builder.Penalty(shape.l2)});
  else graph.Add("Identity", images.loss, {error});
  return images;
}

void FillImageBatch(uint64_t seed, Session* session) {
  const ImageGraph names;
  SeededRandom random(seed);
  for (float& value : session->FloatInput(names.images)) {
    value = static_cast<float>(2 * random.Unit() - 1);
  }
  for (int32_t& label : session->Int32Input(names.labels)) {
    label = static_cast<int32_t>(random.Below(kClasses));
  }
}

}  // namespace taas
