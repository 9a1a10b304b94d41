#include "localkube/api/rules/metadata_rules.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <string>

#include "localkube/api/rules/field_errors.h"
#include "localkube/api/rules/names.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

constexpr const char* kStandardFinalizers[] = {"foregroundDeletion", "kubernetes", "orphan"};

std::string Quoted(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

const json& Member(const json& object, const char* name) {
  static const json kNone;
  const auto found = object.find(name);
  return found == object.end() ? kNone : *found;
}

std::string Text(const json& object, const char* name) {
  const json& value = Member(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

void CheckLabels(const json& labels, FieldErrors* errors) {
  for (const auto& [key, value] : labels.items()) {
    for (const std::string& flaw : QualifiedNameFlaws(key)) {
      errors->Invalid("metadata.labels", Quoted(key), flaw);
    }
    const auto& text = value.get_ref<const std::string&>();
    for (const std::string& flaw : LabelValueFlaws(text)) {
      errors->Invalid("metadata.labels", Quoted(text), flaw);
    }
  }
}

void CheckAnnotations(const json& annotations, FieldErrors* errors) {
  size_t bytes = 0;
  for (const auto& [key, value] : annotations.items()) {
    bytes += key.size() + value.get_ref<const std::string&>().size();
    // Kubernetes takes capital letters in the prefix of an annotation.
    std::string lower = key;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const std::string& flaw : QualifiedNameFlaws(lower)) {
      errors->Invalid("metadata.annotations", Quoted(key), flaw);
    }
  }
  if (bytes <= kAnnotationBytesMax) return;
  errors->Add("metadata.annotations", kFieldTooLong,
              "Too long: may not be more than " + std::to_string(kAnnotationBytesMax) + " bytes");
}

void CheckFinalizers(const Kind& kind, const json& finalizers, FieldErrors* errors) {
  std::set<std::string> names;
  for (size_t i = 0; i < finalizers.size(); ++i) {
    const auto& name = finalizers[i].get_ref<const std::string&>();
    names.insert(name);
    for (const std::string& flaw : QualifiedNameFlaws(name)) {
      errors->Invalid("metadata.finalizers", Quoted(name), flaw);
    }
    // Of the core group's own kinds.
    const bool standard = std::count(std::begin(kStandardFinalizers),
                                     std::end(kStandardFinalizers), name) > 0;
    const bool qualified = name.find('/') != std::string::npos;
    if (!kind.group.empty() || kind.kind == "Event" || standard || qualified) continue;
    errors->Invalid("metadata.finalizers[" + std::to_string(i) + "]", Quoted(name),
                    "name is neither a standard finalizer name nor is it fully qualified");
  }
  if (names.count("orphan") == 0 || names.count("foregroundDeletion") == 0) return;
  errors->Invalid("metadata.finalizers", finalizers.dump(),
                  "finalizer orphan and foregroundDeletion cannot be both set");
}

void CheckOwners(const json& owners, FieldErrors* errors) {
  const std::string path = "metadata.ownerReferences";
  std::string controller;
  for (const json& owner : owners) {
    const std::string version = Text(owner, "apiVersion");
    if (version.empty() || std::count(version.begin(), version.end(), '/') > 1) {
      errors->Invalid(path + ".apiVersion", Quoted(version), "version must not be empty");
    }
    for (const char* field : {"kind", "name", "uid"}) {
      if (Text(owner, field).empty()) {
        errors->Invalid(path + "." + field, "\"\"", "must not be empty");
      }
    }
    if (Member(owner, "controller") != json(true)) continue;
    const std::string name = Text(owner, "kind") + "/" + Text(owner, "name");
    if (!controller.empty()) {
      errors->Invalid(path, owners.dump(-1, ' ', false, json::error_handler_t::replace),
                      "Only one reference can have Controller set to true. Found \"true\" in "
                      "references for " + controller + " and " + name);
      return;
    }
    controller = name;
  }
}

void CheckNoNewFinalizers(const json& old, const json& finalizers, FieldErrors* errors) {
  std::set<std::string> fresh;
  for (const json& name : finalizers) fresh.insert(name.get_ref<const std::string&>());
  for (const json& name : old) {
    if (name.is_string()) fresh.erase(name.get_ref<const std::string&>());
  }
  if (fresh.empty()) return;
  std::string list;
  for (const std::string& name : fresh) list += (list.empty() ? "" : ", ") + Quoted(name);
  errors->Forbidden("metadata.finalizers",
                    "no new finalizers can be added if the object is being deleted, found new "
                    "finalizers []string{" + list + "}");
}

}  // namespace

std::vector<FieldError> MetadataFlaws(const Kind& kind, const json* old, const json& metadata) {
  FieldErrors errors;
  const auto changed = [&](const char* field) -> const json* {
    const json& value = Member(metadata, field);
    if (value.is_null() || (old != nullptr && Member(*old, field) == value)) return nullptr;
    return &value;
  };
  if (const json* labels = changed("labels")) CheckLabels(*labels, &errors);
  if (const json* annotations = changed("annotations")) CheckAnnotations(*annotations, &errors);
  if (const json* owners = changed("ownerReferences")) CheckOwners(*owners, &errors);
  if (const json* finalizers = changed("finalizers")) {
    CheckFinalizers(kind, *finalizers, &errors);
    if (old != nullptr && !Text(*old, "deletionTimestamp").empty()) {
      CheckNoNewFinalizers(Member(*old, "finalizers"), *finalizers, &errors);
    }
  }
  return std::move(errors).Take();
}

}  // namespace taas::localkube
