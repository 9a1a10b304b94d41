#include "trainer/model/model.h"

#include <cmath>
#include <iterator>

#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

// A layer above this is a typing mistake: its weights alone would not fit the memory of any
// machine.
constexpr int64_t kUnitsMax = int64_t{1} << 24;

constexpr char kFeatures[] = "features";
constexpr char kLabels[] = "labels";
constexpr char kTargets[] = "targets";

struct Layer {
  std::string_view name;
  int64_t inputs = 0;
  int64_t units = 0;
};

// x · weights + biases. The weights start as in the classic tutorials: a normal distribution
// whose width keeps the size of a signal that passes through, cut at two deviations.
Value Linear(Graph* graph, Value x, const Layer& layer) {
  const Graph::Scope scope(graph, layer.name);
  const double stddev = 1 / std::sqrt(static_cast<double>(layer.inputs));
  const Value weights = graph->Variable("weights", Shape({layer.inputs, layer.units}),
                                        Initializer::TruncatedNormal(stddev));
  const Value biases = graph->Variable("biases", Shape({layer.units}), Initializer::Zeros());
  const Value product = graph->Add("MatMul", "", {x, weights});
  return graph->Add("BiasAdd", "", {product, biases});
}

// The loss and the measures of a classifier on top of its last layer.
absl::StatusOr<Model> FinishClassifier(Model model, Value x, const Layer& last) {
  Graph& graph = model.graph;
  const Value logits = Linear(&graph, x, last);
  const Value labels = graph.Input(kLabels, {DType::kInt32, Shape({Shape::kBatch})});
  graph.Add("Identity", "logits", {logits});
  const Value loss = graph.Add("SparseSoftmaxCrossEntropy", "loss", {logits, labels});
  graph.Add("Accuracy", "accuracy", {logits, labels});
  graph.Add("ArgMax", "predictions", {logits});
  RETURN_IF_ERROR(graph.status());
  model.labels = kLabels;
  model.loss = graph.NameOf(loss);
  model.logits = "logits";
  model.accuracy = "accuracy";
  model.predictions = "predictions";
  return model;
}

absl::StatusOr<Model> BuildSoftmax(const ModelSpec& spec, Model model, Value features) {
  return FinishClassifier(std::move(model), features,
                          {"softmax_linear", spec.data.features, spec.data.classes});
}

absl::StatusOr<Model> BuildMlp(const ModelSpec& spec, Model model, Value features) {
  Value x = features;
  int64_t width = spec.data.features;
  for (size_t i = 0; i < spec.hidden.size(); ++i) {
    const std::string name = "hidden" + std::to_string(i + 1);
    const Value linear = Linear(&model.graph, x, {name, width, spec.hidden[i]});
    x = model.graph.Add("Relu", name + "/Relu", {linear});
    width = spec.hidden[i];
  }
  return FinishClassifier(std::move(model), x, {"softmax_linear", width, spec.data.classes});
}

absl::StatusOr<Model> BuildLinear(const ModelSpec& spec, Model model, Value features) {
  Graph& graph = model.graph;
  const Value y = Linear(&graph, features, {"linear", spec.data.features, spec.data.targets});
  const Value targets = graph.Input(
      kTargets, {DType::kFloat32, Shape({Shape::kBatch, spec.data.targets})});
  graph.Add("Identity", "predictions", {y});
  graph.Add("MeanSquaredError", "loss", {y, targets});
  RETURN_IF_ERROR(graph.status());
  model.targets = kTargets;
  model.loss = "loss";
  model.predictions = "predictions";
  return model;
}

// The loss with the penalties on the weights, called total_loss as in the classic tutorials.
absl::StatusOr<Model> AddPenalties(const ModelSpec& spec, Model model) {
  Graph& graph = model.graph;
  ASSIGN_OR_RETURN(const Value loss, graph.Find(model.loss));
  std::vector<Value> terms = {loss};
  for (const Value variable : graph.Variables()) {
    const std::string& name = graph.node(variable).name;
    if (!name.ends_with("/weights")) continue;
    const std::string layer = name.substr(0, name.rfind('/'));
    if (spec.l1 > 0) {
      const Value sizes = graph.Add("L1Loss", layer + "/L1Loss", {variable});
      terms.push_back(graph.Add("Scale", layer + "/l1_loss", {sizes}, {{"factor", spec.l1}}));
    }
    if (spec.l2 <= 0) continue;
    const Value half_squares = graph.Add("L2Loss", layer + "/L2Loss", {variable});
    terms.push_back(
        graph.Add("Scale", layer + "/weight_loss", {half_squares}, {{"factor", spec.l2}}));
  }
  graph.Add("AddN", "total_loss", terms);
  RETURN_IF_ERROR(graph.status());
  model.loss = "total_loss";
  return model;
}

struct NamedModel {
  std::string_view name;
  bool classifier;
  bool has_hidden;
  absl::StatusOr<Model> (*build)(const ModelSpec&, Model, Value);
};

constexpr NamedModel kModels[] = {
    {"linear", /*classifier=*/false, /*has_hidden=*/false, BuildLinear},
    {"mlp", /*classifier=*/true, /*has_hidden=*/true, BuildMlp},
    {"softmax", /*classifier=*/true, /*has_hidden=*/false, BuildSoftmax},
};

const NamedModel* FindModel(std::string_view name) {
  for (const NamedModel& model : kModels) {
    if (model.name == name) return &model;
  }
  return nullptr;
}

absl::Status CheckUnits(const std::string& what, int64_t units) {
  if (units >= 1 && units <= kUnitsMax) return absl::OkStatus();
  return absl::InvalidArgumentError(what + ": must be from 1 to " + std::to_string(kUnitsMax) +
                                    ", is " + std::to_string(units));
}

absl::Status CheckSpec(const ModelSpec& spec) {
  const NamedModel* model = FindModel(spec.name);
  if (model == nullptr) {
    return absl::InvalidArgumentError("model.name: there is no model \"" + spec.name +
                                      "\"; known: " + KnownModels());
  }
  if (model->has_hidden && spec.hidden.empty()) {
    return absl::InvalidArgumentError("model.hidden: model " + spec.name +
                                      " needs the sizes of its hidden layers, as [500]");
  }
  if (!model->has_hidden && !spec.hidden.empty()) {
    return absl::InvalidArgumentError("model.hidden: model " + spec.name +
                                      " has no hidden layers");
  }
  for (size_t i = 0; i < spec.hidden.size(); ++i) {
    RETURN_IF_ERROR(CheckUnits("model.hidden[" + std::to_string(i) + "]", spec.hidden[i]));
  }
  const std::string data = "data for model " + spec.name + ": ";
  RETURN_IF_ERROR(CheckUnits(data + "features per example", spec.data.features));
  if (model->classifier) return CheckUnits(data + "classes", spec.data.classes);
  return CheckUnits(data + "targets per example", spec.data.targets);
}

}  // namespace

std::string KnownModels() {
  std::string names;
  for (const NamedModel& model : kModels) {
    names += (names.empty() ? "" : ", ") + std::string(model.name);
  }
  return names;
}

absl::StatusOr<ModelSpec> ParseModel(std::string_view json, const DataShape& data) {
  const nlohmann::json value =
      nlohmann::json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) {
    return absl::InvalidArgumentError("model: must be a JSON object, is " + std::string(json));
  }
  for (const auto& [key, ignored] : value.items()) {
    if (key == "name" || key == "hidden") continue;
    return absl::InvalidArgumentError("model." + key + ": unknown field");
  }
  ModelSpec spec{.data = data};
  const auto name = value.find("name");
  if (name == value.end() || !name->is_string()) {
    return absl::InvalidArgumentError("model.name: must be one of " + KnownModels());
  }
  spec.name = name->get<std::string>();
  const nlohmann::json hidden = value.value("hidden", nlohmann::json::array());
  if (!hidden.is_array()) return absl::InvalidArgumentError("model.hidden: must be a list");
  for (const nlohmann::json& units : hidden) {
    if (!units.is_number_integer()) {
      return absl::InvalidArgumentError("model.hidden[" + std::to_string(spec.hidden.size()) +
                                        "]: must be a whole number, is " + units.dump());
    }
    spec.hidden.push_back(units.get<int64_t>());
  }
  RETURN_IF_ERROR(CheckSpec(spec));
  return spec;
}

absl::StatusOr<Model> BuildModel(const ModelSpec& spec) {
  RETURN_IF_ERROR(CheckSpec(spec));
  Model model;
  model.features = kFeatures;
  const Value features = model.graph.Input(
      kFeatures, {DType::kFloat32, Shape({Shape::kBatch, spec.data.features})});
  ASSIGN_OR_RETURN(model, FindModel(spec.name)->build(spec, std::move(model), features));
  if (spec.l1 <= 0 && spec.l2 <= 0) return model;
  return AddPenalties(spec, std::move(model));
}

}  // namespace taas
