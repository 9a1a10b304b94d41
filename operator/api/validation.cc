#include "operator/api/validation.h"

#include <set>
#include <utility>

#include "absl/strings/strip.h"
#include "operator/api/dialect.h"
#include "operator/api/job_rules.h"
#include "operator/api/json_field.h"
#include "operator/api/tfjob_crd.h"
#include "operator/api/tfjob_spec_codec.h"
#include "operator/api/trainingjob_crd.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// Deeper objects are refused before something recursive runs out of stack; ours are ten levels
// deep.
constexpr int kMaxDepth = 100;
constexpr size_t kMaxGeneratedNameBase = 54 - 5;  // A server adds five characters.

std::string TooDeep() { return "nested more than " + std::to_string(kMaxDepth) + " levels deep"; }

FieldError Malformed(const std::string& path, const std::string& message) {
  return {path, std::string(kMalformed), message};
}

// Finds keys that stand twice in one object, which a DOM forgets, and depth without end.
class TwiceFinder {
 public:
  bool OnEvent(int depth, Json::parse_event_t event, Json& parsed) {
    if (deep_) return false;  // The verdict stands; what follows is not even kept.
    if (depth > kMaxDepth) {
      deep_ = true;
      errors_.push_back(Malformed("", TooDeep()));
      return false;
    }
    switch (event) {
      case Json::parse_event_t::object_start:
        levels_.push_back({ChildPath(), {}, "", false, 0});
        break;
      case Json::parse_event_t::array_start:
        levels_.push_back({ChildPath(), {}, "", true, 0});
        break;
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        levels_.pop_back();
        CountItem();
        break;
      case Json::parse_event_t::key:
        OnKey(parsed.get<std::string>());
        break;
      case Json::parse_event_t::value:
        CountItem();
        break;
    }
    return true;
  }

  bool deep() const { return deep_; }
  std::vector<FieldError> Take() && { return std::move(errors_); }

 private:
  struct Level {
    std::string path;
    std::set<std::string> keys;
    std::string key;
    bool array;
    size_t count;
  };

  std::string ChildPath() const {
    if (levels_.empty()) return "";
    const Level& top = levels_.back();
    if (top.array) return top.path + "[" + std::to_string(top.count) + "]";
    return top.path.empty() ? top.key : top.path + "." + top.key;
  }

  void OnKey(const std::string& key) {
    Level& top = levels_.back();
    top.key = key;
    if (top.keys.insert(key).second) return;
    const std::string path = ChildPath();
    errors_.push_back({path, std::string(kFieldTwice), "duplicate field \"" + path + "\""});
  }

  void CountItem() {
    if (!levels_.empty() && levels_.back().array) ++levels_.back().count;
  }

  bool deep_ = false;
  std::vector<Level> levels_;
  std::vector<FieldError> errors_;
};

absl::StatusOr<Json> ParseObject(std::string_view text) {
  bool deep = false;
  Json object = Json::parse(
      text,
      [&deep](int depth, Json::parse_event_t, Json&) {
        deep = deep || depth > kMaxDepth;
        return !deep;
      },
      /*allow_exceptions=*/false);
  if (deep) return absl::InvalidArgumentError("read an object: the text is " + TooDeep());
  if (object.is_discarded()) {
    return absl::InvalidArgumentError("read an object: the text is not JSON");
  }
  if (!object.is_object()) {
    return absl::InvalidArgumentError(std::string("read an object: the text is a JSON ") +
                                      object.type_name());
  }
  return object;
}

const CrdSchema& SchemaOf(JobKind kind) {
  return kind == JobKind::kTfJob ? TfJobSchema() : TrainingJobSchema();
}

// A server decodes by the path of the request, so only a text that contradicts it is an error.
void CheckVersion(const Dialect& dialect, const Json& object, std::vector<FieldError>* errors) {
  const Json version = object.value("apiVersion", Json());
  if (version != std::string(dialect.group_version)) {
    errors->push_back(Malformed("apiVersion", "apiVersion is " + version.dump() + ", not \"" +
                                                  std::string(dialect.group_version) + "\""));
  }
  const Json kind = object.value("kind", Json());
  if (!kind.is_string() || kind == "") {
    errors->push_back(Malformed(
        "kind", "kind is " + kind.dump() + ", not \"" + std::string(dialect.kind_name) + "\""));
  }
}

void CheckKind(const Dialect& dialect, const Json& object, std::vector<FieldError>* errors) {
  const Json kind = object.value("kind", Json());
  if (kind == std::string(dialect.kind_name)) return;
  errors->push_back({"kind", std::string(kFieldInvalid),
                     "Invalid value: " + kind.dump() + ": must be " +
                         std::string(dialect.kind_name)});
}

// Labels and annotations are maps of texts; names are texts.
void CheckMetadataTypes(const Json& metadata, std::vector<FieldError>* errors) {
  if (!metadata.is_object()) {
    errors->push_back(Malformed("metadata", "metadata is not an object"));
    return;
  }
  for (const char* field : {"name", "generateName", "namespace", "uid", "resourceVersion"}) {
    const auto value = metadata.find(field);
    if (value == metadata.end() || value->is_null() || value->is_string()) continue;
    const std::string path = std::string("metadata.") + field;
    errors->push_back(Malformed(path, path + " is not a text"));
  }
  for (const char* field : {"labels", "annotations"}) {
    const auto map = metadata.find(field);
    if (map == metadata.end() || map->is_null()) continue;
    const std::string path = std::string("metadata.") + field;
    if (!map->is_object()) {
      errors->push_back(Malformed(path, path + " is not an object"));
      continue;
    }
    for (const auto& [key, value] : map->items()) {
      if (value.is_string()) continue;
      errors->push_back(Malformed(path + "." + key, path + "." + key + " is not a text"));
    }
  }
}

// A name there must be; the schema says of which form.
void CheckNamed(const Json& object, std::vector<FieldError>* errors) {
  const Json metadata = object.value("metadata", Json::object());
  if (!TextOf(metadata, "name").empty()) return;
  const std::string base = TextOf(metadata, "generateName");
  if (base.empty()) {
    errors->push_back({"metadata.name", std::string(kFieldRequired),
                       "Required value: name or generateName is required"});
  } else if (base.size() > kMaxGeneratedNameBase) {
    errors->push_back({"metadata.name", std::string(kFieldTooLong),
                       "Too long: generateName has room for " +
                           std::to_string(kMaxGeneratedNameBase) + " characters"});
  }
}

// No definition can say anything of annotations; whoever writes one wrong is told here.
void CheckPendingDeadline(const Json& object, std::vector<FieldError>* errors) {
  const JsonField root(&object, "");
  JobSpec spec;
  const JsonField text = root["metadata"]["annotations"][std::string(kPendingDeadlineAnnotation)];
  const absl::Status read = ReadPendingDeadline(text, &spec);
  if (read.ok()) return;
  // Whoever prints the error puts the path before it.
  const std::string said(absl::StripPrefix(read.message(), text.path() + ": "));
  errors->push_back({text.path(), std::string(kFieldInvalid), "Invalid value: " + said});
}

// A server looks at the rules between fields only if each field is what the rules expect.
bool BlocksRules(const std::vector<FieldError>& errors) {
  for (const FieldError& error : errors) {
    if (error.reason == kFieldNotSupported || error.reason == kFieldRequired ||
        error.reason == kFieldTooLong || error.reason == kFieldTooMany ||
        error.reason == kFieldTypeInvalid) {
      return true;
    }
  }
  return false;
}

// `errors`: of the text.
std::vector<FieldError> CheckObject(JobKind kind, Json object, const Json* old,
                                    std::vector<FieldError> errors) {
  const Dialect& dialect = DialectOf(kind);
  const CrdSchema& schema = SchemaOf(kind);
  CheckVersion(dialect, object, &errors);
  CheckMetadataTypes(object.value("metadata", Json::object()), &errors);
  for (FieldError& error : schema.UnknownFields(object)) errors.push_back(std::move(error));
  if (!errors.empty()) return errors;

  schema.ApplyDefaults(&object);
  errors = schema.Validate(object);
  CheckNamed(object, &errors);
  CheckKind(dialect, object, &errors);
  if (BlocksRules(errors)) return errors;
  for (FieldError& error : BrokenRules(kind, object, old)) errors.push_back(std::move(error));
  if (kind == JobKind::kTfJob) CheckPendingDeadline(object, &errors);
  return errors;
}

std::vector<FieldError> Check(JobKind kind, std::string_view json, const Json* old) {
  TwiceFinder twice;
  Json object = Json::parse(
      json, [&twice](int depth, Json::parse_event_t event,
                     Json& parsed) { return twice.OnEvent(depth, event, parsed); },
      /*allow_exceptions=*/false);
  if (twice.deep()) return std::move(twice).Take();
  if (object.is_discarded()) return {Malformed("", "the text is not JSON")};
  if (!object.is_object()) return {Malformed("", "the text is not a JSON object")};
  return CheckObject(kind, std::move(object), old, std::move(twice).Take());
}

const Json& Below(const Json& from, const char* key) {
  static const Json null;
  if (!from.is_object()) return null;
  const auto member = from.find(key);
  return member == from.end() ? null : *member;
}

FieldError Unsupported(const std::string& path, const Json& value, const std::string& known) {
  return {path, std::string(kFieldNotSupported),
          "Unsupported value: " + value.dump() + ": the bundled trainer knows " + known};
}

// A number that belongs to another optimizer would change nothing, and nobody would notice.
void CheckOptimizer(const Json& optimizer, std::vector<FieldError>* errors) {
  const std::string path = "spec.trainer.optimizer";
  const Json name = optimizer.is_object() ? optimizer.value("name", Json("sgd")) : Json("sgd");
  if (name != "sgd" && name != "momentum" && name != "adam") {
    errors->push_back(Unsupported(path + ".name", name, "sgd, momentum, adam"));
    return;
  }
  const std::pair<const char*, const char*> owners[] = {
      {"momentum", "momentum"}, {"beta1", "adam"}, {"beta2", "adam"}, {"epsilon", "adam"}};
  for (const auto& [field, owner] : owners) {
    const Json& value = Below(optimizer, field);
    if (value.is_null() || name == owner) continue;
    errors->push_back({path + "." + field, std::string(kFieldInvalid),
                       "Invalid value: " + value.dump() + ": belongs to " + owner + ", not to " +
                           name.get<std::string>()});
  }
}

}  // namespace

std::optional<JobKind> KindOfManifest(std::string_view json) {
  const absl::StatusOr<Json> object = ParseObject(json);
  if (!object.ok()) return std::nullopt;
  const Json name = object->value("kind", Json());
  for (const JobKind kind : {JobKind::kTrainingJob, JobKind::kTfJob}) {
    if (name == std::string(DialectOf(kind).kind_name)) return kind;
  }
  return std::nullopt;
}

std::vector<FieldError> Validate(JobKind kind, std::string_view json) {
  return Check(kind, json, nullptr);
}

std::vector<FieldError> ValidateStored(JobKind kind, std::string_view json) {
  absl::StatusOr<Json> object = ParseObject(json);
  if (!object.ok()) return {Malformed("", std::string(object.status().message()))};
  object->erase("status");
  SchemaOf(kind).Prune(&*object);
  return CheckObject(kind, *std::move(object), nullptr, {});
}

std::vector<FieldError> ValidateUpdate(JobKind kind, std::string_view old_json,
                                       std::string_view new_json) {
  absl::StatusOr<Json> old = ParseObject(old_json);
  if (!old.ok()) {
    return {Malformed("", "the stored object: " + std::string(old.status().message()))};
  }
  SchemaOf(kind).ApplyDefaults(&*old);
  return Check(kind, new_json, &*old);
}

std::vector<FieldError> ValidateTrainer(std::string_view json) {
  const absl::StatusOr<Json> object = ParseObject(json);
  if (!object.ok()) return {Malformed("", std::string(object.status().message()))};
  const Json& trainer = Below(Below(*object, "spec"), "trainer");
  std::vector<FieldError> errors;
  if (trainer.is_null()) return errors;  // An image of the user's own.

  const Json& model = Below(trainer, "model");
  const Json& name = Below(model, "name");
  const Json& hidden = Below(model, "hidden");
  const bool layers = hidden.is_array() && !hidden.empty();
  if (name != "softmax" && name != "mlp" && name != "linear") {
    errors.push_back(Unsupported("spec.trainer.model.name", name, "softmax, mlp, linear"));
  } else if (name == "mlp" && !layers) {
    errors.push_back({"spec.trainer.model.hidden", std::string(kFieldRequired),
                      "Required value: mlp needs the size of at least one hidden layer"});
  } else if (name != "mlp" && layers) {
    errors.push_back({"spec.trainer.model.hidden", std::string(kFieldInvalid),
                      "Invalid value: " + hidden.dump() + ": " + name.get<std::string>() +
                          " has no hidden layers"});
  }

  CheckOptimizer(Below(trainer, "optimizer"), &errors);
  return errors;
}

absl::StatusOr<std::string> ApplyDefaults(JobKind kind, std::string_view json) {
  ASSIGN_OR_RETURN(Json object, ParseObject(json));
  SchemaOf(kind).ApplyDefaults(&object);
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<std::string> PruneUnknownFields(JobKind kind, std::string_view json) {
  ASSIGN_OR_RETURN(Json object, ParseObject(json));
  SchemaOf(kind).Prune(&object);
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace taas
