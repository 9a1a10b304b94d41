#include "operator/api/trainer_checks.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "operator/api/rule_twin.h"
#include "operator/base/closest_name.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// `known`: "gpt2, layers".
FieldError Unsupported(const std::string& path, const Json& value, const std::string& known) {
  const std::vector<std::string> names = absl::StrSplit(known, ", ");
  const std::string meant =
      value.is_string() ? DidYouMean(value.get_ref<const std::string&>(), names) : "";
  return {path, std::string(kFieldNotSupported),
          "Unsupported value: " + value.dump(-1, ' ', false, Json::error_handler_t::replace) +
              ": the bundled trainer knows " + known,
          meant};
}

constexpr char kModels[] =
    "gpt2, layers, lenet, linear, lstm, mlp, resnet20, resnet50, softmax, wideDeep";

// Whose a field is, of models and of optimizers.
struct OwnedField {
  const char* name;
  std::vector<std::string> owners;
};

// Fields of the others would change nothing, and nobody would notice.
void CheckOwners(const Json& of, const std::string& path, const std::string& owner,
                 const std::vector<OwnedField>& fields, std::vector<FieldError>* errors) {
  for (const auto& [field, owners] : fields) {
    const Json& value = ValueAt(of, {field});
    if (value.is_null() || std::find(owners.begin(), owners.end(), owner) != owners.end()) continue;
    std::string list;
    for (const std::string& one : owners) list += (list.empty() ? "" : ", ") + one;
    errors->push_back({path + "." + field, std::string(kFieldInvalid),
                       "Invalid value: " + value.dump() + ": belongs to " + list + ", not to " +
                           owner});
  }
}

bool IsInList(const std::string& text, const char* list) {
  return !text.empty() &&
         (std::string(", ") + list + ",").find(" " + text + ",") != std::string::npos;
}

// The twin of the table in trainer/model/model.cc.
const std::vector<OwnedField>& ModelFields() {
  static const std::vector<OwnedField> fields = {
      {"hidden", {"lenet", "lstm", "mlp", "wideDeep"}},
      {"dropout", {"gpt2", "lenet", "lstm", "wideDeep"}},
      {"layers", {"layers"}},
      {"wide", {"wideDeep"}},
      {"deep", {"wideDeep"}},
      {"blocks", {"gpt2"}},
      {"heads", {"gpt2"}},
      {"width", {"gpt2"}},
  };
  return fields;
}

// The twin of Check in trainer/model/gpt2.cc.
void CheckHeads(const Json& model, std::vector<FieldError>* errors) {
  const auto size = [&](const char* field, int64_t otherwise) {
    const Json& value = ValueAt(model, {field});
    return value.is_number_integer() ? value.get<int64_t>() : otherwise;
  };
  const int64_t width = size("width", 768), heads = size("heads", 12);
  // What is below 1 the schema refuses.
  if (heads < 1 || width % heads == 0) return;
  errors->push_back({"spec.trainer.model.width", std::string(kFieldInvalid),
                     "Invalid value: " + std::to_string(width) + ": is not a multiple of " +
                         std::to_string(heads) + ", the number of heads"});
}

// An image of the user's own may have models of its own.
void CheckModel(const Json& model, bool own_image, std::vector<FieldError>* errors) {
  const std::string path = "spec.trainer.model";
  const Json& name = ValueAt(model, {"name"});
  const std::string text = name.is_string() ? name.get<std::string>() : "";
  if (!IsInList(text, kModels)) {
    if (own_image) return;
    errors->push_back(Unsupported(path + ".name", name, kModels));
    return;
  }
  CheckOwners(model, path, text, ModelFields(), errors);
  if (text == "gpt2") CheckHeads(model, errors);
  const Json& hidden = ValueAt(model, {"hidden"});
  const bool needs_hidden = text == "mlp" || text == "lstm" || text == "wideDeep";
  if (needs_hidden && (!hidden.is_array() || hidden.empty())) {
    errors->push_back({path + ".hidden", std::string(kFieldRequired),
                       "Required value: " + text + " needs the size of at least one hidden layer"});
  }
}

constexpr char kOptimizers[] = "sgd, momentum, adam, adamw, adagrad, rmsprop, ftrl";

// The twin of the table in trainer/optimizer/optimizer_json.cc.
const std::vector<OwnedField>& OptimizerFields() {
  static const std::vector<OwnedField> fields = {
      {"momentum", {"momentum", "rmsprop"}},
      {"nesterov", {"momentum"}},
      {"beta1", {"adam", "adamw"}},
      {"beta2", {"adam", "adamw"}},
      {"epsilon", {"adam", "adamw", "rmsprop"}},
      {"weightDecay", {"adamw"}},
      {"initialAccumulator", {"adagrad", "ftrl"}},
      {"rho", {"rmsprop"}},
      {"centered", {"rmsprop"}},
      {"learningRatePower", {"ftrl"}},
      {"l1", {"ftrl"}},
      {"l2", {"ftrl"}},
  };
  return fields;
}

// A sum that starts at 0 divides by 0 in adagrad.
void CheckStart(const Json& optimizer, const std::string& name, std::vector<FieldError>* errors) {
  const Json& start = ValueAt(optimizer, {"initialAccumulator"});
  if (name != "adagrad" || start.is_null() || start != 0) return;
  errors->push_back({"spec.trainer.optimizer.initialAccumulator", std::string(kFieldInvalid),
                     "Invalid value: " + start.dump() + ": adagrad needs one above 0"});
}

void CheckBoundaries(const Json& boundaries, const std::string& path,
                     std::vector<FieldError>* errors) {
  if (!boundaries.is_array()) return;
  if (std::adjacent_find(boundaries.begin(), boundaries.end(), std::greater_equal<Json>()) ==
      boundaries.end()) {
    return;
  }
  errors->push_back({path, std::string(kFieldInvalid),
                     "Invalid value: " + boundaries.dump() + ": must grow"});
}

void CheckOptimizer(const Json& optimizer, std::vector<FieldError>* errors) {
  const std::string path = "spec.trainer.optimizer";
  const Json name = optimizer.is_object() ? optimizer.value("name", Json("sgd")) : Json("sgd");
  const std::string text = name.is_string() ? name.get<std::string>() : "";
  if (!IsInList(text, kOptimizers)) {
    errors->push_back(Unsupported(path + ".name", name, kOptimizers));
    return;
  }
  CheckOwners(optimizer, path, text, OptimizerFields(), errors);
  CheckStart(optimizer, text, errors);
  CheckBoundaries(ValueAt(optimizer, {"decay", "boundaries"}), path + ".decay.boundaries",
                  errors);
}

FieldError Refused(const std::string& path, const std::string& what) {
  return {path, std::string(kFieldInvalid), "Invalid value: " + what};
}

// A model of texts has tokens, and nothing else makes them.
void CheckTokens(const Json& data, const Json& model, std::vector<FieldError>* errors) {
  const Json& format = ValueAt(data, {"format"});
  if (ValueAt(model, {"name"}) != "gpt2" || format == "text") return;
  const std::string is = format.is_string() ? format.dump() : "\"idx\"";  // The default.
  errors->push_back(
      Refused("spec.trainer.data.format", is + ": gpt2 learns texts: write format: text"));
}

std::string ColumnPath(size_t index) {
  return "spec.trainer.data.columns[" + std::to_string(index) + "]";
}

// The texts of `field` in all of a list's objects.
std::set<std::string> TextsIn(const Json& list, const char* field) {
  std::set<std::string> texts;
  for (const Json& one : list) {
    const Json& text = ValueAt(one, {field});
    if (text.is_string()) texts.insert(text.get<std::string>());
  }
  return texts;
}

void CheckColumn(const Json& name, const std::set<std::string>& columns, const std::string& path,
                 std::vector<FieldError>* errors) {
  if (!name.is_string() || columns.contains(name.get<std::string>())) return;
  errors->push_back(Refused(path, name.dump() + ": is none of spec.trainer.data.columns"));
}

// The columns that wideDeep names.
void CheckWideDeep(const Json& model, const Json& columns, std::vector<FieldError>* errors) {
  if (columns.is_null()) {
    errors->push_back({"spec.trainer.data.columns", std::string(kFieldRequired),
                       "Required value: wideDeep learns from feature columns"});
    return;
  }
  const std::set<std::string> names = TextsIn(columns, "name");
  const Json& wide = ValueAt(model, {"wide"});
  for (size_t i = 0; i < wide.size(); ++i) {
    CheckColumn(wide[i], names, "spec.trainer.model.wide[" + std::to_string(i) + "]", errors);
  }
  const Json& deep = ValueAt(model, {"deep"});
  for (size_t i = 0; i < deep.size(); ++i) {
    CheckColumn(ValueAt(deep[i], {"column"}), names,
                "spec.trainer.model.deep[" + std::to_string(i) + "].column", errors);
  }
}

// A column takes a feature of the records, or of a cross an earlier column.
void CheckSources(const Json& columns, const Json& features, std::vector<FieldError>* errors) {
  const std::set<std::string> known = TextsIn(features, "name");
  const std::set<std::string> names = TextsIn(columns, "name");
  const auto check = [&](const Json& source, bool is_known, const std::string& path) {
    if (is_known || !source.is_string() || known.contains(source.get<std::string>())) return;
    errors->push_back(
        Refused(path, source.dump() + ": is none of spec.trainer.data.tfrecord.features"));
  };
  for (size_t i = 0; i < columns.size(); ++i) {
    const Json& column = columns[i];
    const Json& sources = ValueAt(column, {"sources"});
    for (size_t s = 0; s < sources.size(); ++s) {
      const bool is_column =
          sources[s].is_string() && names.contains(sources[s].get<std::string>());
      check(sources[s], is_column, ColumnPath(i) + ".sources[" + std::to_string(s) + "]");
    }
    if (ValueAt(column, {"type"}) == "crossed") continue;
    const char* field = ValueAt(column, {"source"}).is_null() ? "name" : "source";
    check(ValueAt(column, {field}), false, ColumnPath(i) + "." + field);
  }
}

// Columns, and the model that takes them.
void CheckColumns(const Json& data, const Json& model, std::vector<FieldError>* errors) {
  const Json& columns = ValueAt(data, {"columns"});
  const Json& name = ValueAt(model, {"name"});
  for (size_t i = 0; i < columns.size(); ++i) {
    CheckBoundaries(ValueAt(columns[i], {"boundaries"}), ColumnPath(i) + ".boundaries", errors);
    const Json& type = ValueAt(columns[i], {"type"});
    // Ids of categories are no quantities. Whether another image's model takes them, nobody knows.
    const bool known = name.is_string() && IsInList(name.get<std::string>(), kModels);
    if (type == "numeric" || name == "wideDeep" || !known) continue;
    errors->push_back(Refused(ColumnPath(i) + ".type",
                              type.dump() + ": has categories; wideDeep takes those, not " +
                                  name.get<std::string>()));
  }
  if (name == "wideDeep") CheckWideDeep(model, columns, errors);
  const Json& features = ValueAt(data, {"tfrecord", "features"});
  if (!features.is_null()) CheckSources(columns, features, errors);
}

// The twin of the targets in trainer/model/model.cc, as far as the manifest says what is learnt.
void CheckTargets(const Json& model, const Json& data, std::vector<FieldError>* errors) {
  const Json& name = ValueAt(model, {"name"});
  const bool known = name.is_string() && IsInList(name.get<std::string>(), kModels);
  const Json& given = ValueAt(data, {"format"}) == "generated"
                          ? ValueAt(data, {"generated", "classes"})
                          : ValueAt(data, {"classes"});
  if (!known || given != 0 || name == "linear" || name == "layers" || name == "wideDeep") return;
  errors->push_back(Refused("spec.trainer.model.name",
                            name.dump() + ": is for classes; for a regression (classes: 0) use "
                                          "linear, layers or wideDeep"));
}

// The twin of what trainer/export/tensorflow_graph.cc has no translation for.
void CheckExport(const Json& model, const Json& to, std::vector<FieldError>* errors) {
  if (ValueAt(to, {"format"}) != "savedModel") return;
  const std::string path = "spec.trainer.export.format";
  const Json& name = ValueAt(model, {"name"});
  if (name == "gpt2" || name == "lstm" || name == "wideDeep") {
    errors->push_back(Refused(path, "\"savedModel\": there is none of " +
                                        name.get<std::string>() + "; safetensors holds it"));
  }
  const Json& layers = ValueAt(model, {"layers"});
  for (size_t i = 0; layers.is_array() && i < layers.size(); ++i) {
    for (const char* field : {"type", "activation"}) {
      const Json& word = ValueAt(layers[i], {field});
      if (word != "lstm" && word != "embedding" && word != "layerNorm" && word != "gelu") continue;
      errors->push_back(Refused(path, "\"savedModel\": there is none of model.layers[" +
                                          std::to_string(i) + "], " + word.get<std::string>() +
                                          "; safetensors holds it"));
    }
  }
}

}  // namespace

std::vector<FieldError> CheckTrainerNames(const Json& trainer) {
  std::vector<FieldError> errors;
  CheckModel(ValueAt(trainer, {"model"}), !ValueAt(trainer, {"image"}).is_null(), &errors);
  CheckOptimizer(ValueAt(trainer, {"optimizer"}), &errors);
  // The rest may follow from a field that is missing under its name.
  std::erase_if(errors, [](const auto& error) { return error.reason != kFieldNotSupported; });
  return errors;
}

std::vector<FieldError> CheckTrainer(const Json& trainer) {
  std::vector<FieldError> errors;
  CheckModel(ValueAt(trainer, {"model"}), !ValueAt(trainer, {"image"}).is_null(), &errors);
  if (ValueAt(trainer, {"image"}).is_null()) {
    CheckTokens(ValueAt(trainer, {"data"}), ValueAt(trainer, {"model"}), &errors);
  }
  CheckColumns(ValueAt(trainer, {"data"}), ValueAt(trainer, {"model"}), &errors);
  CheckTargets(ValueAt(trainer, {"model"}), ValueAt(trainer, {"data"}), &errors);
  CheckOptimizer(ValueAt(trainer, {"optimizer"}), &errors);
  CheckExport(ValueAt(trainer, {"model"}), ValueAt(trainer, {"export"}), &errors);
  return errors;
}

}  // namespace taas
