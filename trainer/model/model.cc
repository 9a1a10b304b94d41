#include "trainer/model/model.h"

#include <algorithm>
#include <iterator>

#include "operator/base/check.h"
#include "operator/base/closest_name.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/config/spec_fields.h"
#include "trainer/model/gpt2.h"
#include "trainer/model/resnet.h"
#include "trainer/model/wide_deep.h"

namespace taas {
namespace {

// Of models with blocks, heads and a width: far above the largest known.
constexpr int64_t kWidthMax = 65'536;

constexpr char kLabels[] = "labels";
constexpr char kTargets[] = "targets";

// The outputs of the last layer, and what a part of the model beside the chain adds to them.
absl::StatusOr<Value> LastLayer(Chain* chain, const char* name, int64_t outputs, Value beside) {
  chain->Add({.name = name, .units = outputs});
  RETURN_IF_ERROR(chain->status());
  if (!beside.valid()) return chain->value();
  return chain->graph().Add("Add", "", {chain->value(), beside});
}

// The loss and the measures of a classifier on top of its last layer.
absl::Status FinishClassifier(Chain* chain, int64_t classes, Value beside, Model* model) {
  Graph& graph = model->graph;
  ASSIGN_OR_RETURN(const Value logits, LastLayer(chain, "softmax_linear", classes, beside));
  const Value labels = graph.Input(kLabels, {DType::kInt32, Shape({Shape::kBatch})});
  graph.Add("Identity", "logits", {logits});
  const Value loss = graph.Add("SparseSoftmaxCrossEntropy", "loss", {logits, labels});
  graph.Add("Accuracy", "accuracy", {logits, labels});
  graph.Add("ArgMax", "predictions", {logits});
  RETURN_IF_ERROR(graph.status());
  model->labels = kLabels;
  model->loss = graph.NameOf(loss);
  model->logits = "logits";
  model->accuracy = "accuracy";
  model->predictions = "predictions";
  return absl::OkStatus();
}

absl::Status FinishRegression(Chain* chain, int64_t width, Value beside, Model* model) {
  Graph& graph = model->graph;
  ASSIGN_OR_RETURN(const Value y, LastLayer(chain, "linear", width, beside));
  const Value targets =
      graph.Input(kTargets, {DType::kFloat32, Shape({Shape::kBatch, width})});
  graph.Add("Identity", "predictions", {y});
  graph.Add("MeanSquaredError", "loss", {y, targets});
  RETURN_IF_ERROR(graph.status());
  model->targets = kTargets;
  model->loss = "loss";
  model->predictions = "predictions";
  return absl::OkStatus();
}

std::string Numbered(const char* name, size_t i) { return name + std::to_string(i + 1); }

void AddNothing(const ModelSpec&, Chain*) {}

void AddMlp(const ModelSpec& spec, Chain* chain) {
  for (size_t i = 0; i < spec.hidden.size(); ++i) {
    chain->Add({.name = Numbered("hidden", i), .units = spec.hidden[i], .activation = "Relu"});
  }
}

// As in TensorFlow's tutorials of MNIST: two pairs of convolution and pooling, and dense layers,
// after LeCun et al. 1998.
void AddLenet(const ModelSpec& spec, Chain* chain) {
  constexpr int64_t kFilters[] = {32, 64};
  for (size_t i = 0; i < std::size(kFilters); ++i) {
    chain->Add({.kind = LayerKind::kConv,
                .name = Numbered("conv", i),
                .units = kFilters[i],
                .window = {5, 5},
                .activation = "Relu"});
    chain->Add({.kind = LayerKind::kMaxPool, .name = Numbered("pool", i), .window = {2, 2}});
  }
  const std::vector<int64_t> hidden = spec.hidden.empty() ? std::vector<int64_t>{512} : spec.hidden;
  for (size_t i = 0; i < hidden.size(); ++i) {
    chain->Add({.name = Numbered("hidden", i), .units = hidden[i], .activation = "Relu"});
  }
  chain->Add({.kind = LayerKind::kDropout, .rate = spec.dropout});
}

// The last output of the last layer goes on.
void AddLstm(const ModelSpec& spec, Chain* chain) {
  for (size_t i = 0; i < spec.hidden.size(); ++i) {
    chain->Add({.kind = LayerKind::kLstm,
                .name = Numbered("lstm", i),
                .units = spec.hidden[i],
                .sequences = i + 1 < spec.hidden.size()});
  }
  chain->Add({.kind = LayerKind::kDropout, .rate = spec.dropout});
}

void AddLayers(const ModelSpec& spec, Chain* chain) {
  for (const LayerSpec& layer : spec.layers) chain->Add(layer);
}

// The loss with the penalties on the weights, called total_loss as in the classic tutorials.
absl::StatusOr<Model> AddPenalties(const ModelSpec& spec, Model model) {
  Graph& graph = model.graph;
  ASSIGN_OR_RETURN(const Value loss, graph.Find(model.loss));
  std::vector<Value> terms = {loss};
  for (const Value variable : graph.Variables()) {
    const std::string& name = graph.node(variable).name;
    if (!name.ends_with("weights") && !name.ends_with("/w")) continue;
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
  std::string name;
  ModelTarget target;
  // What is between the features and the last layer; none: gpt2, which is no chain.
  std::function<void(const ModelSpec&, Chain*)> add;
  std::vector<std::string> fields = {};  // Besides name.
  bool hidden_needed = false;
  // The data has feature columns, and what they add to the outputs is not in the chain.
  bool wide = false;
  bool ids = false;  // Its features are.

  bool of_tokens() const { return add == nullptr; }
};

// In the order of their names.
std::vector<NamedModel>& Models() {
  constexpr ModelTarget kClasses = ModelTarget::kClasses;
  static std::vector<NamedModel> models = {
      {"gpt2", kClasses, nullptr, {"dropout", "blocks", "heads", "width"}},
      {"layers", ModelTarget::kWhatTheDataHas, AddLayers, {"layers"}},
      {"lenet", kClasses, AddLenet, {"hidden", "dropout"}},
      {"linear", ModelTarget::kTargets, AddNothing},
      {"lstm", kClasses, AddLstm, {"hidden", "dropout"}, /*hidden_needed=*/true},
      {"mlp", kClasses, AddMlp, {"hidden"}, /*hidden_needed=*/true},
      {"resnet20", kClasses, AddResnet20},
      {"resnet50", kClasses, AddResnet50},
      {"softmax", kClasses, AddNothing},
      {"wideDeep", ModelTarget::kWhatTheDataHas, AddDeep, {"hidden", "dropout", "wide", "deep"},
       /*hidden_needed=*/true, /*wide=*/true},
  };
  return models;
}

bool Has(const NamedModel& model, std::string_view field) {
  return std::ranges::find(model.fields, field) != model.fields.end();
}

const NamedModel* FindModel(std::string_view name) {
  for (const NamedModel& model : Models()) {
    if (model.name == name) return &model;
  }
  return nullptr;
}

absl::Status CheckUnits(const std::string& what, int64_t units) {
  if (units >= 1 && units <= kUnitsMax) return absl::OkStatus();
  return absl::InvalidArgumentError(what + ": must be from 1 to " + std::to_string(kUnitsMax) +
                                    ", is " + std::to_string(units));
}

bool IsClassifier(const NamedModel& model, const DataShape& data) {
  return model.target == ModelTarget::kClasses ||
         (model.target == ModelTarget::kWhatTheDataHas && data.classes > 0);
}

// Ids of categories are no quantities, so that only a model of columns can learn from them.
absl::Status CheckColumns(const NamedModel& model, const ModelSpec& spec) {
  if (model.wide) return CheckWideDeep(spec);
  for (const ColumnShape& column : spec.data.columns) {
    if (column.categories == 0) continue;
    return InvalidField("model.name", "model " + spec.name + " takes numeric columns only, \"" +
                                          column.name + "\" has categories; wideDeep takes those");
  }
  return absl::OkStatus();
}

absl::Status NotOfTargets(const NamedModel& model) {
  std::string others;
  for (const NamedModel& other : Models()) {
    if (other.target == ModelTarget::kClasses) continue;
    others += (others.empty() ? "" : ", ") + other.name;
  }
  return InvalidField("model.name", "model " + model.name + " is for classes, and the data has "
                      "targets of a regression (data.classes: 0); models for those: " + others);
}

absl::Status CheckSpec(const ModelSpec& spec) {
  const NamedModel* model = FindModel(spec.name);
  if (model == nullptr) {
    std::vector<std::string> names;
    for (const NamedModel& known : Models()) names.push_back(known.name);
    const std::string meant = DidYouMean(spec.name, names);
    return InvalidField("model.name", "there is no model \"" + spec.name + "\"; " + meant +
                                          (meant.empty() ? "" : " ") + "known: " + KnownModels());
  }
  if (model->hidden_needed && spec.hidden.empty()) {
    return InvalidField("model.hidden",
                        "model " + spec.name + " needs the sizes of its hidden layers, as [500]");
  }
  if (!spec.hidden.empty() && !Has(*model, "hidden")) {
    return InvalidField("model.hidden", "model " + spec.name + " has no hidden layers");
  }
  for (size_t i = 0; i < spec.hidden.size(); ++i) {
    RETURN_IF_ERROR(CheckUnits("model.hidden[" + std::to_string(i) + "]", spec.hidden[i]));
  }
  if (model->of_tokens()) return absl::OkStatus();  // BuildGpt2 looks at its data.
  if (spec.data.vocabulary > 0) {
    return InvalidField("model.name", "model " + spec.name + " does not learn from a text");
  }
  RETURN_IF_ERROR(CheckColumns(*model, spec));
  const std::string data = "data for model " + spec.name + ": ";
  RETURN_IF_ERROR(CheckUnits(data + "features per example", spec.data.features));
  if (IsClassifier(*model, spec.data)) {
    if (spec.data.classes == 0 && spec.data.targets > 0) return NotOfTargets(*model);
    return CheckUnits(data + "classes", spec.data.classes);
  }
  return CheckUnits(data + "targets per example", spec.data.targets);
}

bool LookedUpFirst(const std::vector<LayerSpec>& layers) {
  const auto first = std::ranges::find_if(
      layers, [](const LayerSpec& layer) { return layer.kind != LayerKind::kFlatten; });
  return first != layers.end() && first->kind == LayerKind::kEmbedding;
}

// The numbers that bytes mean, float32[batch, features].
Value AddPixels(const DataShape& data, GraphMode mode, Model* model) {
  Graph& graph = model->graph;
  const ImageShape& image = data.image;
  const bool is_image = image.pixels() > 0;
  const Shape shape = is_image
                          ? Shape({Shape::kBatch, image.height, image.width, image.channels})
                          : Shape({Shape::kBatch, data.features});
  model->pixels = "pixels";
  std::vector<Value> inputs = {graph.Input(model->pixels, {DType::kUint8, shape})};
  Attributes attributes{{"scale", double{data.pixels->scale}},
                        {"offset", double{data.pixels->offset}}};
  if (is_image && data.augment.any() && mode == GraphMode::kTraining) {
    model->seeds = "seeds";
    inputs.push_back(graph.Input(model->seeds, {DType::kInt64, Shape({Shape::kBatch})}));
    attributes.Set("crop_padding", data.augment.crop_padding);
    attributes.Set("flip", data.augment.flip);
  }
  const Value decoded =
      graph.Add("DecodePixels", is_image ? "decoded" : kFeatures, inputs, std::move(attributes));
  if (!is_image || !graph.status().ok()) return decoded;
  return graph.Add("Reshape", kFeatures, {decoded},
                   {{"shape", std::vector<int64_t>{Shape::kBatch, data.features}}});
}

// Inputs for what the data has; returns what a chain goes on from: nothing of columns.
Value AddInputs(const NamedModel& named, const ModelSpec& spec, GraphMode mode, Model* model) {
  const bool ids_alone = named.ids || LookedUpFirst(spec.layers);
  int64_t ids = ids_alone ? spec.data.features : 0;
  if (named.wide) {
    ids = std::ranges::count_if(
        spec.data.columns, [](const ColumnShape& column) { return column.categories > 0; });
  }
  Value features, looked_up;
  if (spec.data.pixels && ids == 0) {
    features = AddPixels(spec.data, mode, model);
  } else if (spec.data.features > ids) {
    model->features = kFeatures;
    features = model->graph.Input(
        kFeatures, {DType::kFloat32, Shape({Shape::kBatch, spec.data.features - ids})});
  }
  if (ids > 0) {
    model->ids = kIds;
    looked_up = model->graph.Input(kIds, {DType::kInt64, Shape({Shape::kBatch, ids})});
  }
  if (named.wide) return Value();
  return ids_alone ? looked_up : features;
}

absl::StatusOr<Model> BuildChain(const NamedModel& named, const ModelSpec& spec, GraphMode mode) {
  Model model;
  const Value x = AddInputs(named, spec, mode, &model);
  Chain chain(&model.graph, {.mode = mode, .image = spec.data.image}, x);
  named.add(spec, &chain);
  RETURN_IF_ERROR(chain.status());
  const bool classifier = IsClassifier(named, spec.data);
  const int64_t outputs = classifier ? spec.data.classes : spec.data.targets;
  const Value beside = named.wide ? AddWide(spec, outputs, &model.graph) : Value();
  RETURN_IF_ERROR(classifier ? FinishClassifier(&chain, outputs, beside, &model)
                             : FinishRegression(&chain, outputs, beside, &model));
  return model;
}

}  // namespace

void RegisterModel(OwnModel model) {
  CHECK(FindModel(model.name) == nullptr) << "there is a model " << model.name << " already";
  CHECK(model.add != nullptr) << "model " << model.name << " adds no layers";
  Models().push_back({.name = std::move(model.name),
                      .target = model.target,
                      .add = std::move(model.add),
                      .fields = std::move(model.fields),
                      .ids = model.ids});
  std::ranges::sort(Models(), {}, &NamedModel::name);
}

std::string KnownModels() {
  std::string names;
  for (const NamedModel& model : Models()) {
    names += (names.empty() ? "" : ", ") + model.name;
  }
  return names;
}

bool FeaturesAreIds(std::string_view json) {
  const auto value =
      nlohmann::json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (!value.is_object() || !value.contains("name") || !value["name"].is_string()) return false;
  const NamedModel* const model = FindModel(value["name"].get<std::string>());
  if (model == nullptr || !value.contains("layers")) return model != nullptr && model->ids;
  const auto layers = ParseLayers(value["layers"], "model.layers");
  return model->ids || (layers.ok() && LookedUpFirst(*layers));
}

absl::StatusOr<ModelSpec> ParseModel(std::string_view json, const DataShape& data) {
  const nlohmann::json value =
      nlohmann::json::parse(json.begin(), json.end(), nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) {
    return absl::InvalidArgumentError("model: must be a JSON object, is " + std::string(json));
  }
  ModelSpec spec{.name = "", .data = data};
  const auto name = value.find("name");
  if (name == value.end() || !name->is_string()) {
    return absl::InvalidArgumentError("model.name: must be one of " + KnownModels());
  }
  spec.name = name->get<std::string>();
  RETURN_IF_ERROR(CheckFields(
      value, "model",
      {"name", "hidden", "layers", "dropout", "wide", "deep", "blocks", "heads", "width"}));
  const NamedModel* const model = FindModel(spec.name);
  for (const char* const field :
       {"layers", "dropout", "wide", "deep", "blocks", "heads", "width"}) {
    if (model == nullptr || !value.contains(field) || Has(*model, field)) continue;
    return InvalidField("model." + std::string(field), "model " + spec.name + " does not take it");
  }
  if (value.contains("layers")) {
    ASSIGN_OR_RETURN(spec.layers, ParseLayers(value["layers"], "model.layers"));
  }
  RETURN_IF_ERROR(ParseWideDeep(value, &spec));
  ASSIGN_OR_RETURN(spec.dropout, ShareField(value, "model", "dropout", 0));
  for (const auto& [field, number] : {std::pair{"blocks", &spec.blocks},
                                      {"heads", &spec.heads},
                                      {"width", &spec.width}}) {
    ASSIGN_OR_RETURN(*number, WholeField(value, "model", field, {*number, 1, kWidthMax}));
  }
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

absl::StatusOr<Model> BuildModel(const ModelSpec& spec, GraphMode mode) {
  RETURN_IF_ERROR(CheckSpec(spec));
  const NamedModel& named = *FindModel(spec.name);
  ASSIGN_OR_RETURN(Model model, named.of_tokens() ? BuildGpt2(spec, mode)
                                                            : BuildChain(named, spec, mode));
  if (spec.l1 <= 0 && spec.l2 <= 0) return model;
  return AddPenalties(spec, std::move(model));
}

}  // namespace taas
