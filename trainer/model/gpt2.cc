#include "trainer/model/gpt2.h"

#include <cmath>
#include <string>
#include <utility>

#include "operator/base/status.h"
#include "trainer/config/spec_fields.h"

namespace taas {
namespace {

using Ints = std::vector<int64_t>;

constexpr double kDeviation = 0.02;
constexpr int64_t kWider = 4;  // The hidden layer of a block's dense half.

class Gpt2 {
 public:
  Gpt2(const ModelSpec& spec, GraphMode mode, Graph* graph)
      : spec_(spec), mode_(mode), graph_(graph), steps_(spec.data.features) {}

  // [batch, steps, width], before the last layer, whose weights are `table_`.
  Value Blocks(Value ids) {
    const int64_t width = spec_.width;
    table_ = graph_->Variable("wte", Shape({spec_.data.vocabulary, width}), Normal(kDeviation));
    const Value positions =
        graph_->Variable("wpe", Shape({steps_, width}), Normal(kDeviation));
    Value x = graph_->Add("Embedding", "tokens", {table_, ids});
    // The positions are one long bias of an example.
    x = Reshape(x, {Shape::kBatch, steps_ * width});
    x = graph_->Add("BiasAdd", "positions", {x, Reshape(positions, {steps_ * width})});
    x = Dropout(Reshape(x, {Shape::kBatch, steps_, width}));
    for (int64_t block = 0; block < spec_.blocks; ++block) {
      const Graph::Scope scope(graph_, "h" + std::to_string(block));
      x = graph_->Add("Add", "attention", {x, Dropout(AttentionHalf(x))});
      x = graph_->Add("Add", "output", {x, Dropout(DenseHalf(x))});
    }
    return Normalize("ln_f", x);
  }
  Value Logits(Value x) {
    return graph_->Add("MatMul", "logits", {x, table_}, {{"transpose_b", true}});
  }

 private:
  static Initializer Normal(double deviation) { return Initializer::TruncatedNormal(deviation); }

  // What is added to the sum of all blocks starts smaller the more blocks there are.
  double ResidualDeviation() const {
    return kDeviation / std::sqrt(2.0 * static_cast<double>(spec_.blocks));
  }

  Value Reshape(Value x, Ints shape) {
    return graph_->Add("Reshape", "", {x}, {{"shape", std::move(shape)}});
  }

  Value Dropout(Value x) {
    if (mode_ == GraphMode::kInference || spec_.dropout == 0) return x;
    return graph_->Add("Dropout", "", {x}, {{"rate", spec_.dropout}});
  }

  Value Normalize(std::string_view name, Value x) {
    const Graph::Scope scope(graph_, name);
    const Value g = graph_->Variable("g", Shape({spec_.width}), Initializer::Constant(1));
    const Value b = graph_->Variable("b", Shape({spec_.width}), Initializer::Zeros());
    return graph_->Add("LayerNorm", "", {x, g, b});
  }

  struct Size {
    int64_t inputs, outputs;
    double deviation = kDeviation;
  };
  Value Dense(std::string_view name, Value x, const Size& size) {
    const Graph::Scope scope(graph_, name);
    const Value w =
        graph_->Variable("w", Shape({size.inputs, size.outputs}), Normal(size.deviation));
    const Value b = graph_->Variable("b", Shape({size.outputs}), Initializer::Zeros());
    return graph_->Add("BiasAdd", "", {graph_->Add("MatMul", "", {x, w}), b});
  }

  Value AttentionHalf(Value x) {
    const int64_t width = spec_.width;
    const Value normal = Normalize("ln_1", x);
    const Graph::Scope scope(graph_, "attn");
    const Value qkv = Dense("c_attn", normal, {width, 3 * width});
    const Value y = graph_->Add("Attention", "", {qkv}, {{"heads", spec_.heads}});
    return Dense("c_proj", y, {width, width, ResidualDeviation()});
  }

  Value DenseHalf(Value x) {
    const int64_t width = spec_.width;
    const Value normal = Normalize("ln_2", x);
    const Graph::Scope scope(graph_, "mlp");
    const Value hidden =
        graph_->Add("Gelu", "", {Dense("c_fc", normal, {width, kWider * width})});
    return Dense("c_proj", hidden, {kWider * width, width, ResidualDeviation()});
  }

  const ModelSpec& spec_;
  const GraphMode mode_;
  Graph* const graph_;
  const int64_t steps_;
  Value table_;
};

absl::Status Check(const ModelSpec& spec) {
  if (spec.data.vocabulary < 1 || spec.data.features < 1) {
    return InvalidField("data", "model gpt2 needs tokens, as data.format text has them");
  }
  if (spec.width % spec.heads == 0) return absl::OkStatus();
  return InvalidField("model.width", std::to_string(spec.width) + " is not a multiple of " +
                                         std::to_string(spec.heads) + ", the number of heads");
}

}  // namespace

absl::StatusOr<Model> BuildGpt2(const ModelSpec& spec, GraphMode mode) {
  RETURN_IF_ERROR(Check(spec));
  Model model{.ids = kIds, .labels = "labels", .of_tokens = true};
  Graph& graph = model.graph;
  const Shape tokens({Shape::kBatch, spec.data.features});
  const Value ids = graph.Input(model.ids, {DType::kInt64, tokens});
  const Value labels = graph.Input(model.labels, {DType::kInt32, tokens});
  Gpt2 builder(spec, mode, &graph);
  const Value logits = builder.Logits(builder.Blocks(ids));
  const Value loss = graph.Add("SparseSoftmaxCrossEntropy", "loss", {logits, labels});
  graph.Add("Accuracy", "accuracy", {logits, labels});
  graph.Add("ArgMax", "predictions", {logits});
  RETURN_IF_ERROR(graph.status());
  model.loss = graph.NameOf(loss);
  model.logits = "logits";
  model.accuracy = "accuracy";
  model.predictions = "predictions";
  return model;
}

}  // namespace taas
