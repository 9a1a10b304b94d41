// Saves graphs that hold every op with a translation, and prints what this tree computes of them:
//
//   export_all_ops NAME DIR     NAME is lenet or all; the SavedModel goes to DIR
//
// The output is {"features": [[…], …], "outputs": {"logits": […], …}}, for tensorflow_test.py.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/file_system.h"
#include "third_party/json.h"
#include "trainer/export/saved_model.h"
#include "trainer/graph/graph.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/cpu_runtime.h"

namespace taas {
namespace {

constexpr int64_t kBatch = 3;

Value Weights(Graph& graph, const char* name, Shape shape) {
  return graph.Variable(name, std::move(shape), Initializer::Uniform(-0.5, 0.5));
}

// LeNet as in the classic tutorials, with narrow layers.
Graph LeNet() {
  Graph graph;
  const Value features = graph.Input("features", {DType::kFloat32, Shape({Shape::kBatch, 784})});
  Value x = graph.Add("Reshape", "images", {features},
                      {{"shape", std::vector<int64_t>{-1, 28, 28, 1}}});
  int64_t channels = 1;
  for (const auto& [name, out] : {std::pair("conv1", int64_t{4}), std::pair("conv2", int64_t{8})}) {
    const Graph::Scope scope(&graph, name);
    const Value weights = Weights(graph, "weights", Shape({5, 5, channels, out}));
    x = graph.Add("Conv2D", "", {x, weights});
    x = graph.Add("BiasAdd", "", {x, Weights(graph, "biases", Shape({out}))});
    x = graph.Add("Relu", "", {x});
    x = graph.Add("MaxPool", "", {x}, {{"strides", std::vector<int64_t>{2, 2}}});
    channels = out;
  }
  x = graph.Add("Reshape", "flat", {x}, {{"shape", std::vector<int64_t>{-1, 392}}});
  x = graph.Add("MatMul", "", {x, Weights(graph, "fc/weights", Shape({392, 10}))});
  x = graph.Add("BiasAdd", "", {x, Weights(graph, "fc/biases", Shape({10}))});
  graph.Add("Identity", "logits", {x});
  return graph;
}

Value ImageOps(Graph& graph, Value features) {
  using Ints = std::vector<int64_t>;
  Value x = graph.Add("Reshape", "images", {features}, {{"shape", Ints{-1, 8, 8, 3}}});
  x = graph.Add("Conv2D", "strided", {x, Weights(graph, "w1", Shape({3, 3, 3, 4}))},
                {{"strides", Ints{2, 1}}, {"padding", std::string("SAME")}});
  x = graph.Add("BiasAddRelu", "rectified", {x, Weights(graph, "b1", Shape({4}))});
  x = graph.Add("Conv2D", "explicit", {x, Weights(graph, "w2", Shape({2, 3, 4, 5}))},
                {{"padding", std::string("EXPLICIT")}, {"explicit_paddings", Ints{1, 0, 2, 1}}});
  const Value variance =
      graph.Variable("variance", Shape({5}), Initializer::Uniform(0.5, 1.5), false);
  x = graph.Add("BatchNormInference", "normal",
                {x, Weights(graph, "scale", Shape({5})), Weights(graph, "offset", Shape({5})),
                 graph.Variable("mean", Shape({5}), Initializer::Uniform(-1, 1), false), variance});
  const Value most = graph.Add("MaxPool", "most", {x}, {{"padding", std::string("EXPLICIT")},
                                                        {"explicit_paddings", Ints{0, 1, 1, 0}},
                                                        {"strides", Ints{2, 2}}});
  const Value average = graph.Add("AvgPool", "average", {x}, {{"strides", Ints{2, 2}}});
  x = graph.Add("Concat", "both", {most, average}, {{"axis", int64_t{3}}});
  x = graph.Add("Slice", "some", {x}, {{"axis", int64_t{3}}, {"begin", int64_t{2}},
                                       {"size", int64_t{6}}});
  x = graph.Add("Pad", "more", {x}, {{"axis", int64_t{2}}, {"before", int64_t{1}},
                                     {"after", int64_t{2}}});
  x = graph.Add("Dropout", "kept", {x}, {{"rate", 0.0}});
  return graph.Add("ReduceMean", "pooled", {x}, {{"axes", Ints{1, 2}}});
}

Graph AllOps() {
  Graph graph;
  const Value features = graph.Input("features", {DType::kFloat32, Shape({Shape::kBatch, 192})});
  const Value x = ImageOps(graph, features);  // [batch, 6]
  const Value up = graph.Add("MatMul", "up", {x, Weights(graph, "w3", Shape({7, 6}))},
                             {{"transpose_b", true}});
  const Value even = graph.Constant("even", Shape({6, 7}), 0.25);
  const Value a = graph.Add("Sigmoid", "a", {up});
  const Value b = graph.Add("Tanh", "b", {graph.Add("MatMul", "mixed", {x, even})});
  const Value product = graph.Add("Mul", "product", {a, b});
  const Value scaled = graph.Add("Scale", "scaled", {product}, {{"factor", -1.5}});
  const Value sum = graph.Add("AddN", "sum", {a, b, scaled});
  const Value square = graph.Add("Square", "square", {graph.Add("Sub", "less", {a, sum})});
  graph.Add("Identity", "logits", {graph.Add("Add", "logits_sum", {square, sum})});
  graph.Add("ReduceSum", "total", {square}, {{"axes", std::vector<int64_t>{1}}});
  graph.Add("ArgMax", "largest", {square});
  return graph;
}

nlohmann::json Run(const Graph& graph, const std::string& dir,
                   const std::vector<std::string>& outputs) {
  CHECK(graph.status().ok()) << graph.status().ToString();
  const int64_t width = graph.type(*graph.Find("features")).shape.dim(1);
  auto session = Session::Compile(CpuRuntime(), graph,
                                  {.batch = kBatch, .fetches = outputs, .trainable = false});
  CHECK(session.ok()) << session.status().ToString();
  CHECK((*session)->InitializeVariables(7).ok()) << "initialize";
  const std::span<float> features = (*session)->FloatInput("features");
  for (size_t i = 0; i < features.size(); ++i) {
    features[i] = static_cast<float>((i * 37) % 101) / 101.0f - 0.4f;
  }
  CHECK((*session)->Run(RunKind::kForward).ok()) << "run";

  ServedModel model{.graph = &graph, .logits = "logits"};
  model.inputs = {{"features", *graph.Find("features")}};
  for (const std::string& name : outputs) model.outputs.emplace_back(name, *graph.Find(name));
  for (size_t i = 0; i < (*session)->variables().size(); ++i) {
    model.values.push_back((*session)->variable(i).host());
  }
  PosixFileSystem files;
  const absl::Status written = WriteSavedModel(files, dir, model);
  CHECK(written.ok()) << written.ToString();

  nlohmann::json rows = nlohmann::json::array(), values;
  for (int64_t row = 0; row < kBatch; ++row) {
    const auto begin = features.begin() + row * width;
    rows.push_back(std::vector<float>(begin, begin + width));
  }
  for (const std::string& name : outputs) {
    if (graph.type(*graph.Find(name)).dtype == DType::kInt32) {
      const auto out = (*session)->output(name).host_int32();
      values[name] = std::vector<int32_t>(out.begin(), out.end());
    } else {
      const auto out = (*session)->output(name).host();
      values[name] = std::vector<float>(out.begin(), out.end());
    }
  }
  return {{"features", rows}, {"outputs", values}};
}

int Main(const std::string& name, const std::string& dir) {
  const nlohmann::json result =
      name == "lenet" ? Run(LeNet(), dir, {"logits"})
                      : Run(AllOps(), dir, {"logits", "total", "largest"});
  std::puts(result.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace taas

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: export_all_ops lenet|all DIR\n", stderr);
    return 2;
  }
  return taas::Main(argv[1], argv[2]);
}
