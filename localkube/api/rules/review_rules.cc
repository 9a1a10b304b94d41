#include "localkube/api/rules/review_rules.h"

#include <utility>

#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

constexpr char kFieldForbidden[] = "FieldValueForbidden";

std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

FieldError InvalidValue(std::string path, const json& value, const std::string& why) {
  return {std::move(path), std::string(kFieldInvalid),
          "Invalid value: " + Dump(value) + ": " + why};
}

FieldError Missing(std::string path, const std::string& why) {
  return {std::move(path), std::string(kFieldRequired), "Required value: " + why};
}

void CheckRequirement(const json& requirement, bool of_labels, const std::string& path,
                      std::vector<FieldError>* errors) {
  if (!of_labels && !requirement.contains("key")) {
    errors->push_back(Missing(path + ".key", "must be specified"));
  }
  const std::string op = requirement.value("operator", "");
  const bool values = requirement.contains("values");
  if ((op == "In" || op == "NotIn") && !values) {
    errors->push_back(
        Missing(path + ".values", "must be specified when `operator` is 'In' or 'NotIn'"));
  }
  if ((op == "Exists" || op == "DoesNotExist") && values) {
    errors->push_back({path + ".values", kFieldForbidden,
                       "Forbidden: may not be specified when `operator` is 'Exists' or "
                       "'DoesNotExist'"});
  }
}

void CheckSelector(const json& attributes, const char* name, std::vector<FieldError>* errors) {
  const auto selector = attributes.find(name);
  if (selector == attributes.end()) return;
  const std::string path = std::string("spec.resourceAttributes.") + name;
  const bool raw = selector->contains("rawSelector");
  const bool requirements = selector->contains("requirements");
  if (raw && requirements) {
    errors->push_back(InvalidValue(path + ".rawSelector", (*selector)["rawSelector"],
                                   "may not specified at the same time as requirements"));
  }
  if (!raw && !requirements) {
    errors->push_back(Missing(
        path + ".requirements",
        "when " + path + " is specified, requirements or rawSelector is required"));
  }
  if (!requirements) return;
  size_t index = 0;
  for (const json& requirement : (*selector)["requirements"]) {
    CheckRequirement(requirement, std::string(name) == "labelSelector",
                     path + ".requirements[" + std::to_string(index++) + "]", errors);
  }
}

// As the server shows its own structure, whose fields have no JSON names.
json Shown(const json& non_resource) {
  return {{"Path", non_resource.value("path", "")}, {"Verb", non_resource.value("verb", "")}};
}

}  // namespace

std::vector<FieldError> CheckAccessReview(const Kind& kind, const json& metadata,
                                          const json& spec, const std::string& ns) {
  std::vector<FieldError> errors;
  const bool local = kind.kind == "LocalSubjectAccessReview";
  const auto resource = spec.find("resourceAttributes");
  const auto non_resource = spec.find("nonResourceAttributes");
  if (resource != spec.end() && non_resource != spec.end()) {
    errors.push_back(InvalidValue("spec.nonResourceAttributes", Shown(*non_resource),
                                  "cannot be specified in combination with resourceAttributes"));
  }
  if (resource == spec.end() && non_resource == spec.end()) {
    errors.push_back(InvalidValue(
        "spec.resourceAttributes", nullptr,
        "exactly one of nonResourceAttributes or resourceAttributes must be specified"));
  }
  const bool of_self = kind.kind == "SelfSubjectAccessReview";
  if (!of_self && !spec.contains("user") && !spec.contains("groups")) {
    errors.push_back(
        InvalidValue("spec.user", "", "at least one of user or group must be specified"));
  }
  if (resource != spec.end()) {
    CheckSelector(*resource, "fieldSelector", &errors);
    CheckSelector(*resource, "labelSelector", &errors);
  }
  if (!metadata.empty()) {
    json shown = metadata;
    if (local) shown["namespace"] = ns;
    errors.push_back(InvalidValue("metadata", shown,
                                  local ? "must be empty except for namespace" : "must be empty"));
  }
  if (local && resource != spec.end() && resource->value("namespace", "") != ns) {
    errors.push_back(InvalidValue("spec.resourceAttributes.namespace",
                                  resource->value("namespace", ""),
                                  "must match metadata.namespace"));
  }
  if (local && non_resource != spec.end()) {
    errors.push_back(InvalidValue("spec.nonResourceAttributes", Shown(*non_resource),
                                  "disallowed on this kind of request"));
  }
  return errors;
}

}  // namespace taas::localkube
