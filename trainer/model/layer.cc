#include "trainer/model/layer.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "absl/strings/numbers.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/config/spec_fields.h"
#include "trainer/graph/gradient_rows.h"

namespace taas {
namespace {

using nlohmann::json;
using Ints = std::vector<int64_t>;

// Larger windows and strides are typing mistakes: images have at most some thousand pixels a side.
constexpr int64_t kWindowMax = 1024;
constexpr int64_t kDefaultKernel = 3;
constexpr int64_t kDefaultPool = 2;
constexpr double kLayerNormEpsilon = 1e-5;
// Of what stands for an id, as GPT-2 starts it.
constexpr double kEmbeddingDeviation = 0.02;

struct NamedKind {
  const char* type;  // In the manifest.
  LayerKind kind;
  const char* scope;  // Of variables: "conv1".
  std::vector<std::string_view> fields;
};

const std::vector<NamedKind>& Kinds() {
  static const std::vector<NamedKind> kinds = {
      {"conv", LayerKind::kConv, "conv",
       {"filters", "kernel", "strides", "padding", "activation", "bias"}},
      {"maxPool", LayerKind::kMaxPool, "pool", {"size", "strides", "padding"}},
      {"avgPool", LayerKind::kAvgPool, "pool", {"size", "strides", "padding"}},
      {"globalAvgPool", LayerKind::kGlobalAvgPool, "pool", {}},
      {"flatten", LayerKind::kFlatten, "flatten", {}},
      {"dense", LayerKind::kDense, "dense", {"units", "activation", "bias"}},
      {"batchNorm", LayerKind::kBatchNorm, "batch_norm", {"decay", "epsilon", "activation"}},
      {"dropout", LayerKind::kDropout, "dropout", {"rate"}},
      {"activation", LayerKind::kActivation, "activation", {"activation"}},
      {"layerNorm", LayerKind::kLayerNorm, "layer_norm", {"epsilon", "activation"}},
      {"embedding", LayerKind::kEmbedding, "embedding", {"rows", "units"}},
      {"lstm", LayerKind::kLstm, "lstm", {"units", "sequences"}},
  };
  return kinds;
}

const NamedKind& OfKind(LayerKind kind) {
  for (const NamedKind& named : Kinds()) {
    if (named.kind == kind) return named;
  }
  return Kinds().front();  // Not reached: the table has every kind.
}

std::string KnownTypes() {
  std::string names;
  for (const NamedKind& kind : Kinds()) {
    names += (names.empty() ? "" : ", ") + std::string(kind.type);
  }
  return names;
}

// 5, or "5x1": height and width.
absl::StatusOr<std::array<int64_t, 2>> PairField(const json& value, const std::string& path,
                                                 const char* name, int64_t fallback) {
  const auto found = value.find(name);
  if (found == value.end()) return std::array<int64_t, 2>{fallback, fallback};
  std::string text = found->is_string() ? found->get<std::string>() : found->dump();
  if (found->is_number_integer()) text += "x" + text;
  std::array<int64_t, 2> pair{};
  const size_t cross = text.find('x');
  if (cross != std::string::npos && absl::SimpleAtoi(text.substr(0, cross), &pair[0]) &&
      absl::SimpleAtoi(text.substr(cross + 1), &pair[1]) && std::ranges::min(pair) >= 1 &&
      std::ranges::max(pair) <= kWindowMax) {
    return pair;
  }
  return InvalidField(path + "." + name,
                      "must be a side or height x width, as 5 or \"5x1\", from 1 to " +
                          std::to_string(kWindowMax));
}

absl::StatusOr<std::string> ActivationField(const json& value, const std::string& path) {
  constexpr const char* kOps[] = {"", "Relu", "Sigmoid", "Tanh", "Gelu"};
  ASSIGN_OR_RETURN(const size_t place, ChoiceField(value, path, "activation",
                                                   {"none", "relu", "sigmoid", "tanh", "gelu"}));
  return kOps[place];
}

absl::Status ReadWindow(const json& value, const std::string& path, LayerSpec* layer) {
  const bool conv = layer->kind == LayerKind::kConv;
  ASSIGN_OR_RETURN(layer->window, PairField(value, path, conv ? "kernel" : "size",
                                            conv ? kDefaultKernel : kDefaultPool));
  if (value.contains("strides")) {
    ASSIGN_OR_RETURN(layer->strides, PairField(value, path, "strides", 1));
  }
  ASSIGN_OR_RETURN(const size_t padding, ChoiceField(value, path, "padding", {"same", "valid"}));
  layer->padding = padding == 0 ? "SAME" : "VALID";
  return absl::OkStatus();
}

absl::StatusOr<int64_t> UnitsField(const json& value, const std::string& path, const char* name,
                                   int64_t most = kUnitsMax) {
  if (!value.contains(name)) return InvalidField(path + "." + name, "is missing");
  return WholeField(value, path, name, {1, 1, most});
}

absl::StatusOr<LayerSpec> ParseLayer(const json& value, const std::string& path) {
  if (!value.is_object()) return InvalidField(path, "must be an object with a type");
  ASSIGN_OR_RETURN(const std::string type, TextField(value, path, "type"));
  const NamedKind* named = nullptr;
  for (const NamedKind& kind : Kinds()) {
    if (kind.type == type) named = &kind;
  }
  if (named == nullptr) {
    return InvalidField(path + ".type",
                        "there is no layer \"" + type + "\"; known: " + KnownTypes());
  }
  std::vector<std::string_view> known = {"type", "name"};
  known.insert(known.end(), named->fields.begin(), named->fields.end());
  RETURN_IF_ERROR(CheckFields(value, path, known));
  LayerSpec layer{.kind = named->kind};
  if (value.contains("name")) {
    ASSIGN_OR_RETURN(layer.name, TextField(value, path, "name"));
  }
  ASSIGN_OR_RETURN(layer.activation, ActivationField(value, path));
  ASSIGN_OR_RETURN(layer.bias, FlagField(value, path, "bias", true));
  switch (layer.kind) {
    case LayerKind::kConv: {
      ASSIGN_OR_RETURN(layer.units, UnitsField(value, path, "filters"));
      RETURN_IF_ERROR(ReadWindow(value, path, &layer));
      break;
    }
    case LayerKind::kMaxPool:
    case LayerKind::kAvgPool:
      RETURN_IF_ERROR(ReadWindow(value, path, &layer));
      break;
    case LayerKind::kDense: {
      ASSIGN_OR_RETURN(layer.units, UnitsField(value, path, "units"));
      break;
    }
    case LayerKind::kBatchNorm: {
      ASSIGN_OR_RETURN(layer.decay, ShareField(value, path, "decay", layer.decay));
      ASSIGN_OR_RETURN(layer.epsilon, ShareField(value, path, "epsilon", layer.epsilon));
      break;
    }
    case LayerKind::kDropout: {
      if (!value.contains("rate")) return InvalidField(path + ".rate", "is missing");
      ASSIGN_OR_RETURN(layer.rate, ShareField(value, path, "rate", 0));
      break;
    }
    case LayerKind::kActivation:
      if (layer.activation.empty()) {
        return InvalidField(path + ".activation", "is missing, or none: such a layer does nothing");
      }
      break;
    case LayerKind::kLayerNorm: {
      ASSIGN_OR_RETURN(layer.epsilon, ShareField(value, path, "epsilon", kLayerNormEpsilon));
      break;
    }
    case LayerKind::kEmbedding: {
      ASSIGN_OR_RETURN(layer.rows, UnitsField(value, path, "rows", kTableRowsMax));
      ASSIGN_OR_RETURN(layer.units, UnitsField(value, path, "units"));
      break;
    }
    case LayerKind::kLstm: {
      ASSIGN_OR_RETURN(layer.units, UnitsField(value, path, "units"));
      ASSIGN_OR_RETURN(layer.sequences, FlagField(value, path, "sequences", false));
      break;
    }
    case LayerKind::kGlobalAvgPool:
    case LayerKind::kFlatten:
      break;
  }
  return layer;
}

}  // namespace

absl::StatusOr<std::vector<LayerSpec>> ParseLayers(const json& value, const std::string& path) {
  if (!value.is_array()) return InvalidField(path, "must be a list of layers");
  if (value.size() > kLayersMax) {
    return InvalidField(path, "has " + std::to_string(value.size()) + " layers, at most " +
                                  std::to_string(kLayersMax) + " are allowed");
  }
  std::vector<LayerSpec> layers;
  for (size_t i = 0; i < value.size(); ++i) {
    ASSIGN_OR_RETURN(LayerSpec layer, ParseLayer(value[i], path + "[" + std::to_string(i) + "]"));
    layers.push_back(std::move(layer));
  }
  return layers;
}

Chain::Chain(Graph* graph, Options options, Value x)
    : graph_(graph), options_(std::move(options)), x_(x) {}

absl::Status Chain::status() const {
  if (failed_.empty()) return graph_->status();
  return Annotate(graph_->status(), failed_);
}

int64_t Chain::width() const { return shape().WithBatch(1).count(); }

void Chain::Add(const LayerSpec& layer) {
  if (!ok()) return;
  LayerSpec named = layer;
  const int number = ++of_kind_[static_cast<size_t>(layer.kind)];
  if (named.name.empty()) named.name = OfKind(layer.kind).scope + std::to_string(number);
  AddNamed(named);
  if (!ok()) failed_ = options_.path + "[" + std::to_string(count_) + "] (" + named.name + ")";
  ++count_;
}

void Chain::Join(Chain branch) {
  BatchFirst();
  const Value other = branch.value();
  if (ok()) x_ = graph_->Add("Add", "", {x_, other});
}

void Chain::AddNamed(const LayerSpec& layer) {
  const bool keeps_order = conv_end_ && (conv_end_->activation.empty() ||
                                         conv_end_->activation == "Relu");
  if (layer.kind != LayerKind::kMaxPool || !keeps_order) EndConv();
  if (layer.kind != LayerKind::kLstm && !conv_end_) BatchFirst();
  switch (layer.kind) {
    case LayerKind::kConv:
      return Conv(layer);
    case LayerKind::kMaxPool:
    case LayerKind::kAvgPool:
      return Pool(layer);
    case LayerKind::kGlobalAvgPool:
      return GlobalPool();
    case LayerKind::kFlatten:
      Flat();
      return;
    case LayerKind::kDense:
      return Dense(layer);
    case LayerKind::kBatchNorm:
      return BatchNorm(layer);
    case LayerKind::kDropout:
      if (options_.mode == GraphMode::kInference || layer.rate == 0) return;
      x_ = graph_->Add("Dropout", layer.name, {x_}, {{"rate", layer.rate}});
      return;
    case LayerKind::kActivation:
      return Activate(layer.activation);
    case LayerKind::kLayerNorm:
      return LayerNorm(layer);
    case LayerKind::kEmbedding:
      return Embedding(layer);
    case LayerKind::kLstm:
      return Lstm(layer);
  }
}

Value Chain::value() {
  BatchFirst();
  return x_;
}

void Chain::EndConv() {
  const std::optional<ConvEnd> end = std::exchange(conv_end_, std::nullopt);
  if (!end || !ok()) return;
  const Graph::Scope scope(graph_, end->name);
  if (end->biases.valid()) x_ = graph_->Add("BiasAdd", "", {x_, end->biases});
  Activate(end->activation);
}

void Chain::BatchFirst() {
  EndConv();
  if (steps_first_ && ok()) x_ = graph_->Add("SwapLeading", "", {x_});
  steps_first_ = false;
}

Value Chain::Flat() {
  BatchFirst();
  if (!ok() || shape().rank() == 2) return x_;
  x_ = graph_->Add("Reshape", "flatten", {x_}, {{"shape", Ints{Shape::kBatch, width()}}});
  return x_;
}

bool Chain::NeedImage() {
  if (shape().rank() == 4) return true;
  const ImageShape& image = options_.image;
  if (shape().rank() == 2 && count_ == 0 && image.pixels() > 0) {
    x_ = graph_->Add("Reshape", "images", {x_},
                     {{"shape", Ints{Shape::kBatch, image.height, image.width, image.channels}}});
    return ok();
  }
  graph_->Fail(absl::InvalidArgumentError(
      "needs images, height x width x channels, and gets " + shape().ToString() +
      (count_ == 0 ? ": the data does not say that its examples are images" : "")));
  return false;
}

bool Chain::NeedSteps() {
  const ImageShape& image = options_.image;
  if (shape().rank() == 2 && count_ == 0 && image.pixels() > 0) {
    x_ = graph_->Add("Reshape", "steps", {x_},
                     {{"shape", Ints{Shape::kBatch, image.height, image.width * image.channels}}});
  }
  if (!ok()) return false;
  if (shape().rank() != 3) {
    graph_->Fail(absl::InvalidArgumentError(
        "needs sequences, steps x width, and gets " + shape().ToString() +
        (count_ == 0 ? ": the data does not say that its examples have two axes" : "")));
    return false;
  }
  if (!steps_first_) x_ = graph_->Add("SwapLeading", "", {x_});
  steps_first_ = true;
  return ok();
}

void Chain::Conv(const LayerSpec& layer) {
  if (!NeedImage()) return;
  const int64_t channels = shape().dim(3);
  const Graph::Scope scope(graph_, layer.name);
  // Keeps the size of a signal through a relu (He et al. 2015).
  const double fan_in = static_cast<double>(layer.window[0] * layer.window[1] * channels);
  const Value weights =
      graph_->Variable("weights", Shape({layer.window[0], layer.window[1], channels, layer.units}),
                       Initializer::TruncatedNormal(std::sqrt(2 / fan_in)));
  Attributes attributes{{"padding", layer.padding}};
  const bool strides = layer.strides[0] > 0;
  attributes.Set("strides", strides ? Ints{layer.strides[0], layer.strides[1]} : Ints{1, 1});
  if (layer.padding == "EXPLICIT") attributes.Set("explicit_paddings", Ints(4, layer.margin));
  x_ = graph_->Add("Conv2D", "", {x_, weights}, std::move(attributes));
  Value biases;
  if (layer.bias && ok()) {
    biases = graph_->Variable("biases", Shape({layer.units}), Initializer::Zeros());
  }
  conv_end_ = ConvEnd{.name = layer.name, .biases = biases, .activation = layer.activation};
}

void Chain::Pool(const LayerSpec& layer) {
  if (!NeedImage()) return;
  const std::array<int64_t, 2>& strides = layer.strides[0] > 0 ? layer.strides : layer.window;
  Attributes attributes{{"size", Ints{layer.window[0], layer.window[1]}},
                        {"strides", Ints{strides[0], strides[1]}},
                        {"padding", layer.padding}};
  if (layer.padding == "EXPLICIT") attributes.Set("explicit_paddings", Ints(4, layer.margin));
  x_ = graph_->Add(layer.kind == LayerKind::kMaxPool ? "MaxPool" : "AvgPool", layer.name, {x_},
                   std::move(attributes));
}

void Chain::GlobalPool() {
  if (NeedImage()) x_ = graph_->Add("ReduceMean", "", {x_}, {{"axes", Ints{1, 2}}});
}

void Chain::Dense(const LayerSpec& layer) {
  const Value x = Flat();
  if (!ok()) return;
  const int64_t inputs = width();
  const Graph::Scope scope(graph_, layer.name);
  // Starts as in the classic tutorials: a normal distribution whose width keeps the size of a
  // signal that passes through, cut at two deviations.
  const double stddev = 1 / std::sqrt(static_cast<double>(inputs));
  const Value weights = graph_->Variable("weights", Shape({inputs, layer.units}),
                                         Initializer::TruncatedNormal(stddev));
  const Value biases = layer.bias ? graph_->Variable("biases", Shape({layer.units}),
                                                     Initializer::Zeros())
                                  : Value();
  x_ = graph_->Add("MatMul", "", {x, weights});
  if (layer.bias && ok()) x_ = graph_->Add("BiasAdd", "", {x_, biases});
  Activate(layer.activation);
}

void Chain::BatchNorm(const LayerSpec& layer) {
  if (shape().rank() < 2) return;
  const Shape channels({shape().dim(shape().rank() - 1)});
  const Graph::Scope scope(graph_, layer.name);
  const Value gamma = graph_->Variable("gamma", channels, Initializer::Constant(1));
  const Value beta = graph_->Variable("beta", channels, Initializer::Zeros());
  const Value mean = graph_->Variable("moving_mean", channels, Initializer::Zeros(), false);
  const Value variance =
      graph_->Variable("moving_variance", channels, Initializer::Constant(1), false);
  const Attributes epsilon{{"epsilon", layer.epsilon}};
  if (options_.mode == GraphMode::kInference) {
    x_ = graph_->Add("BatchNormInference", "", {x_, gamma, beta, mean, variance}, epsilon);
  } else {
    x_ = graph_->Add("BatchNorm", "", {x_, gamma, beta}, epsilon);
    if (!ok()) return;
    const Attributes decay{{"decay", layer.decay}};
    // Output 3 is the unbiased variance, as TensorFlow and PyTorch keep it.
    graph_->AddUpdate(graph_->Add("MovingAverage", "", {mean, Value{x_.node, 1}}, decay));
    graph_->AddUpdate(graph_->Add("MovingAverage", "", {variance, Value{x_.node, 3}}, decay));
  }
  Activate(layer.activation);
}

void Chain::LayerNorm(const LayerSpec& layer) {
  const Shape columns({shape().dim(shape().rank() - 1)});
  const Graph::Scope scope(graph_, layer.name);
  const Value gamma = graph_->Variable("gamma", columns, Initializer::Constant(1));
  const Value beta = graph_->Variable("beta", columns, Initializer::Zeros());
  x_ = graph_->Add("LayerNorm", "", {x_, gamma, beta}, {{"epsilon", layer.epsilon}});
  Activate(layer.activation);
}

void Chain::Embedding(const LayerSpec& layer) {
  if (graph_->type(x_).dtype != DType::kInt64) {
    graph_->Fail(absl::InvalidArgumentError(
        "needs ids, and gets " + graph_->type(x_).ToString() +
        ": it looks up the features, as the first layer, of a model whose features are ids "
        "(OwnModel::ids)"));
    return;
  }
  const Graph::Scope scope(graph_, layer.name);
  const Value table = graph_->Variable("table", Shape({layer.rows, layer.units}),
                                       Initializer::TruncatedNormal(kEmbeddingDeviation));
  x_ = graph_->Add("Embedding", "", {table, x_});
}

void Chain::Lstm(const LayerSpec& layer) {
  if (!NeedSteps()) return;
  const int64_t steps = shape().dim(0), inputs = shape().dim(2);
  const Graph::Scope scope(graph_, layer.name);
  // As in PyTorch.
  const double bound = 1 / std::sqrt(static_cast<double>(layer.units));
  const Initializer initializer = Initializer::Uniform(-bound, bound);
  const Value weights =
      graph_->Variable("weights", Shape({inputs, 4 * layer.units}), initializer);
  const Value recurrent =
      graph_->Variable("recurrent_weights", Shape({layer.units, 4 * layer.units}), initializer);
  const Value biases = graph_->Variable("biases", Shape({4 * layer.units}), Initializer::Zeros());
  x_ = graph_->Add("Lstm", "", {x_, weights, recurrent, biases});
  if (layer.sequences) return;
  steps_first_ = false;
  x_ = graph_->Add("Slice", "last", {x_},
                   {{"axis", int64_t{0}}, {"begin", steps - 1}, {"size", int64_t{1}}});
  if (!ok()) return;
  x_ = graph_->Add("Reshape", "", {x_}, {{"shape", Ints{Shape::kBatch, layer.units}}});
}

void Chain::Activate(const std::string& op) {
  if (!op.empty() && ok()) x_ = graph_->Add(op, "", {x_});
}

}  // namespace taas
