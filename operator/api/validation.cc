#include "operator/api/validation.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "operator/api/dialect.h"
#include "operator/api/job_rules.h"
#include "operator/api/json_field.h"
#include "operator/api/template_check.h"
#include "operator/api/tfjob_crd.h"
#include "operator/api/tfjob_spec_codec.h"
#include "operator/api/trainer_checks.h"
#include "operator/api/trainingjob_crd.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// Fields that stand twice which are told: more than anybody reads.
constexpr size_t kTwiceMax = 100;
// A longer key is cut in their paths, each of which has it.
constexpr size_t kShownKeyMax = 256;
constexpr size_t kMaxGeneratedNameBase = 54 - 5;  // A server adds five characters.

FieldError Malformed(const std::string& path, const std::string& message) {
  return {path, std::string(kMalformed), message};
}

// Finds keys that stand twice in one object, which a DOM forgets. (The library's parser with a
// callback would do, too, but takes the square of the number of members for each object.)
class TwiceFinder : public nlohmann::json_sax<Json> {
 public:
  std::vector<FieldError> Take() && { return std::move(errors_); }

  bool null() override { return CountItem(); }
  bool boolean(bool) override { return CountItem(); }
  bool number_integer(number_integer_t) override { return CountItem(); }
  bool number_unsigned(number_unsigned_t) override { return CountItem(); }
  bool number_float(number_float_t, const string_t&) override { return CountItem(); }
  bool string(string_t&) override { return CountItem(); }
  bool binary(binary_t&) override { return CountItem(); }
  bool start_object(size_t) override { return Enter(/*array=*/false); }
  bool end_object() override { return Leave(); }
  bool start_array(size_t) override { return Enter(/*array=*/true); }
  bool end_array() override { return Leave(); }
  bool key(string_t& key) override {
    Level& top = levels_.back();
    top.key = key;
    if (!top.keys.insert(key).second && errors_.size() < kTwiceMax) {
      const std::string path = ChildPath();
      errors_.push_back({path, std::string(kFieldTwice), "duplicate field \"" + path + "\""});
    }
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

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
    const std::string key =
        top.key.size() <= kShownKeyMax ? top.key : top.key.substr(0, kShownKeyMax) + "…";
    return top.path.empty() ? key : top.path + "." + key;
  }

  bool Enter(bool array) {
    levels_.push_back({ChildPath(), {}, "", array, 0});
    return true;
  }
  bool Leave() {
    levels_.pop_back();
    return CountItem();
  }
  bool CountItem() {
    if (!levels_.empty() && levels_.back().array) ++levels_.back().count;
    return true;
  }

  std::vector<Level> levels_;
  std::vector<FieldError> errors_;
};

absl::StatusOr<Json> ParseObject(std::string_view text) {
  absl::StatusOr<Json> object = ParseJsonObject(text);
  if (!object.ok()) return Annotate(object.status(), "read an object");
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

// What each role is called and which container it has, whatever else is wrong with a TFJob.
void AddRulesOfRoles(const Json& object, std::vector<FieldError>* errors) {
  const Json::json_pointer at("/spec/tfReplicaSpecs");
  if (!object.contains(at) || !object[at].is_object()) return;
  const Json roles = {{"metadata", Json::object()}, {"spec", {{"tfReplicaSpecs", object[at]}}}};
  for (FieldError& error : BrokenRules(JobKind::kTfJob, roles, nullptr)) {
    // Whether somebody trains follows from the names.
    const bool of_names = error.path == "spec.tfReplicaSpecs" && !error.hint.empty();
    if (of_names || error.path.ends_with(".template.spec.containers")) {
      errors->push_back(std::move(error));
    }
  }
}

// Rules between fields that are broken only since some number of replicas is none: what follows
// from a mistake that is told is no second one. A server tells these, too.
void DropWhatFollows(JobKind kind, const Json& object, std::vector<FieldError>* errors) {
  constexpr std::string_view kReplicas = ".replicas";
  std::vector<Json::json_pointer> wrong;
  for (const FieldError& error : *errors) {
    if (error.reason != kFieldInvalid || !error.path.ends_with(kReplicas)) continue;
    const Json::json_pointer at("/" + absl::StrReplaceAll(error.path, {{".", "/"}}));
    if (object.contains(at)) wrong.push_back(at);
  }
  if (wrong.empty()) return;
  Json mended = object;
  SchemaOf(kind).ApplyDefaults(&mended);
  const std::vector<FieldError> of_rules = BrokenRules(kind, mended, nullptr);
  // Whatever was meant, it lies between: one, and more than any job has.
  for (const int replicas : {1, 1'000'000}) {
    for (const Json::json_pointer& at : wrong) mended[at] = replicas;
    const std::vector<FieldError> still = BrokenRules(kind, mended, nullptr);
    std::erase_if(*errors, [&](const FieldError& error) {
      return std::find(of_rules.begin(), of_rules.end(), error) != of_rules.end() &&
             std::find(still.begin(), still.end(), error) == still.end();
    });
  }
}

void CheckEnvelope(JobKind kind, const Json& object, std::vector<FieldError>* errors) {
  CheckVersion(DialectOf(kind), object, errors);
  CheckMetadataTypes(object.value("metadata", Json::object()), errors);
}

// Of an object that has no fields but known ones.
std::vector<FieldError> CheckKnown(JobKind kind, Json object, const Json* old) {
  const CrdSchema& schema = SchemaOf(kind);
  schema.ApplyDefaults(&object);
  std::vector<FieldError> errors = schema.Validate(object);
  CheckNamed(object, &errors);
  CheckKind(DialectOf(kind), object, &errors);
  if (BlocksRules(errors)) return errors;
  for (FieldError& error : BrokenRules(kind, object, old)) errors.push_back(std::move(error));
  if (kind == JobKind::kTfJob) CheckPendingDeadline(object, &errors);
  return errors;
}

std::vector<FieldError> Check(JobKind kind, std::string_view json, const Json* old) {
  absl::StatusOr<Json> object = ParseJsonObject(json);
  if (!object.ok()) return {Malformed("", std::string(object.status().message()))};
  TwiceFinder twice;
  Json::sax_parse(json, &twice);
  std::vector<FieldError> errors = std::move(twice).Take();
  CheckEnvelope(kind, *object, &errors);
  for (FieldError& error : SchemaOf(kind).UnknownFields(*object)) {
    errors.push_back(std::move(error));
  }
  if (!errors.empty()) return errors;
  return CheckKnown(kind, *std::move(object), old);
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

std::vector<FieldError> ValidateAll(JobKind kind, std::string_view json) {
  std::vector<FieldError> errors = Validate(kind, json);
  absl::StatusOr<Json> object = ParseObject(json);
  if (!object.ok()) return errors;
  DropWhatFollows(kind, *object, &errors);
  std::vector<FieldError> more;
  const CrdSchema& schema = SchemaOf(kind);
  if (HasDecodingError(errors)) {
    // What rules would say follows from the fields that are missing under their names.
    Json known = *object;
    schema.Prune(&known);
    schema.ApplyDefaults(&known);
    more = schema.Validate(known);
    if (kind == JobKind::kTfJob) AddRulesOfRoles(known, &more);
  } else if (kind == JobKind::kTfJob && BlocksRules(errors)) {
    schema.ApplyDefaults(&*object);
    AddRulesOfRoles(*object, &more);
  }
  for (FieldError& error : CheckTemplates(kind, *object)) more.push_back(std::move(error));
  for (FieldError& error : NotToldYet(std::move(more), errors)) errors.push_back(std::move(error));
  return errors;
}

std::vector<FieldError> ValidateStored(JobKind kind, std::string_view json) {
  absl::StatusOr<Json> object = ParseObject(json);
  if (!object.ok()) return {Malformed("", std::string(object.status().message()))};
  object->erase("status");
  std::vector<FieldError> errors;
  CheckEnvelope(kind, *object, &errors);
  if (!errors.empty()) return errors;
  SchemaOf(kind).Prune(&*object);
  return CheckKnown(kind, *std::move(object), nullptr);
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
  const Json::json_pointer trainer("/spec/trainer");
  if (!object->contains(trainer)) return {};  // An image of the user's own.
  return CheckTrainer((*object)[trainer]);
}

std::vector<FieldError> ValidateTrainerNames(std::string_view json) {
  const absl::StatusOr<Json> object = ParseObject(json);
  const Json::json_pointer trainer("/spec/trainer");
  if (!object.ok() || !object->contains(trainer)) return {};
  return CheckTrainerNames((*object)[trainer]);
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
