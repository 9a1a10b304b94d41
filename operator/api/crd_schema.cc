#include "operator/api/crd_schema.h"

#include <algorithm>
#include <functional>
#include <regex>
#include <set>
#include <utility>

#include "operator/api/schema_check.h"
#include "operator/api/schema_node.h"
#include "operator/base/closest_name.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using Node = CrdSchema::Node;

// What every object has beside its schema. The server checks their values while it decodes.
const std::set<std::string>& TopFields() {
  static const std::set<std::string> fields = {"apiVersion", "kind", "metadata"};
  return fields;
}

const std::set<std::string>& MetadataFields() {
  static const std::set<std::string> fields = {
      "annotations",       "creationTimestamp", "deletionGracePeriodSeconds",
      "deletionTimestamp", "finalizers",        "generateName",
      "generation",        "labels",            "managedFields",
      "name",              "namespace",         "ownerReferences",
      "resourceVersion",   "selfLink",          "uid"};
  return fields;
}

const Node* ChildOf(const Node& node, const std::string& name) {
  const auto known = node.properties.find(name);
  return known != node.properties.end() ? known->second.get() : node.additional.get();
}

// More are told without a hint: each looks at all names that there are.
constexpr size_t kHintsMax = 64;

std::vector<std::string> NamesOf(const Node& node) {
  std::vector<std::string> names;
  for (const auto& [name, ignored] : node.properties) names.push_back(name);
  return names;
}

// Calls `unknown(parent, name, path, known)` for each field that the schema lacks; `known` are the
// names that it has in that place.
using UnknownField = std::function<void(Json* parent, const std::string& name,
                                        const std::string& path,
                                        const std::vector<std::string>& known)>;

void VisitUnknown(const Node& node, Json* value, const std::string& path,
                  const UnknownField& unknown) {
  if (value->is_array()) {
    if (node.items == nullptr) return;
    for (size_t i = 0; i < value->size(); ++i) {
      VisitUnknown(*node.items, &(*value)[i], ItemPath(path, i), unknown);
    }
    return;
  }
  if (!value->is_object()) return;
  std::vector<std::string> lacking;
  for (const auto& [name, member] : value->items()) {
    const std::string below = ChildPath(path, name);
    if (path.empty() && TopFields().count(name) > 0) {
      if (name != "metadata" || !member.is_object()) continue;
      const std::set<std::string>& known = MetadataFields();
      for (const auto& [field, ignored] : member.items()) {
        if (known.contains(field)) continue;
        unknown(nullptr, field, ChildPath(below, field), {known.begin(), known.end()});
      }
    } else if (const Node* child = ChildOf(node, name); child != nullptr) {
      VisitUnknown(*child, &member, below, unknown);
    } else if (!node.preserve_unknown) {
      lacking.push_back(name);
    }
  }
  if (lacking.empty()) return;
  std::vector<std::string> known = NamesOf(node);
  if (path.empty()) known.insert(known.end(), TopFields().begin(), TopFields().end());
  for (const std::string& name : lacking) unknown(value, name, ChildPath(path, name), known);
}

void SetDefaults(const Node& node, Json* value) {
  if (value->is_array()) {
    if (node.items == nullptr) return;
    for (Json& item : *value) SetDefaults(*node.items, &item);
    return;
  }
  if (!value->is_object()) return;
  for (const auto& [name, child] : node.properties) {
    const auto member = value->find(name);
    const bool absent = member == value->end() || (member->is_null() && !child->nullable);
    if (!absent) continue;
    if (child->default_value.has_value()) {
      (*value)[name] = *child->default_value;
    } else if (member != value->end()) {
      value->erase(member);
    }
  }
  for (auto member = value->begin(); member != value->end();) {
    const bool declared = node.properties.count(member.key()) != 0;
    const Node* child = ChildOf(node, member.key());
    if (!declared && child != nullptr && member->is_null() && !child->nullable) {
      member = value->erase(member);
      continue;
    }
    if (child != nullptr) SetDefaults(*child, &*member);
    ++member;
  }
}

void CollectRules(const Node& node, std::vector<CrdSchema::Rule>* out) {
  out->insert(out->end(), node.rules.begin(), node.rules.end());
  for (const auto& [name, child] : node.properties) CollectRules(*child, out);
  if (node.items != nullptr) CollectRules(*node.items, out);
  if (node.additional != nullptr) CollectRules(*node.additional, out);
}

void CollectPaths(const Node& node, const std::string& path, std::vector<std::string>* out) {
  if (!path.empty()) out->push_back(path);
  for (const auto& [name, child] : node.properties) {
    CollectPaths(*child, ChildPath(path, name), out);
  }
  if (node.items != nullptr && !node.items->properties.empty()) {
    for (const auto& [name, child] : node.items->properties) {
      CollectPaths(*child, ChildPath(path + "[]", name), out);
    }
  }
  if (node.additional != nullptr) {
    for (const auto& [name, child] : node.additional->properties) {
      CollectPaths(*child, ChildPath(path + "{}", name), out);
    }
  }
}

const Json* StoredVersion(const Json& crd) {
  for (const Json& version : crd.at("spec").at("versions")) {
    if (version.value("storage", false)) return &version;
  }
  return nullptr;
}

// "trainer.optimizer" for the unknown field "spec.optimizer"; "" where no object of spec has it.
std::string OneDeeper(const Node& root, const std::string& path, const std::string& name) {
  const auto spec = root.properties.find("spec");
  if (spec == root.properties.end() || path != "spec." + name) return "";
  for (const auto& [child, node] : spec->second->properties) {
    if (node->properties.count(name) > 0) return child + "." + name;
  }
  return "";
}

}  // namespace

absl::StatusOr<CrdSchema> CrdSchema::Parse(const Json& crd) {
  try {
    const Json* version = StoredVersion(crd);
    if (version == nullptr) return absl::InvalidArgumentError("the CRD stores no version");
    ASSIGN_OR_RETURN(std::shared_ptr<const Node> root,
                     ParseSchemaNode(version->at("schema").at("openAPIV3Schema"), ""));
    return CrdSchema(std::move(root));
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(std::string("read the schema of the CRD: ") + error.what());
  } catch (const std::regex_error& error) {
    return absl::InvalidArgumentError(std::string("read a pattern of the CRD: ") + error.what());
  }
}

std::vector<FieldError> CrdSchema::UnknownFields(const Json& object) const {
  std::vector<FieldError> errors;
  Json copy = object;
  VisitUnknown(*root_, &copy, "",
               [this, &errors](Json*, const std::string& name, const std::string& path,
                               const std::vector<std::string>& known) {
                 const bool look = errors.size() < kHintsMax;
                 const std::string deeper = OneDeeper(*root_, path, name);
                 std::string hint = look && deeper.empty() ? DidYouMean(name, known) : "";
                 if (!deeper.empty()) hint = "did you mean \"" + deeper + "\"?";
                 errors.push_back({path, std::string(kFieldUnknown),
                                   "unknown field \"" + path + "\"", std::move(hint)});
               });
  return errors;
}

void CrdSchema::Prune(Json* object) const {
  std::vector<std::string> metadata;
  VisitUnknown(*root_, object, "",
               [&metadata](Json* parent, const std::string& name, const std::string&,
                           const std::vector<std::string>&) {
                 if (parent == nullptr) {
                   metadata.push_back(name);
                 } else {
                   parent->erase(name);
                 }
               });
  for (const std::string& name : metadata) (*object)["metadata"].erase(name);
}

void CrdSchema::ApplyDefaults(Json* object) const { SetDefaults(*root_, object); }

std::vector<FieldError> CrdSchema::Validate(const Json& object) const {
  return CheckSchema(*root_, object);
}

std::vector<CrdSchema::Rule> CrdSchema::Rules() const {
  std::vector<Rule> rules;
  CollectRules(*root_, &rules);
  return rules;
}

std::vector<std::string> CrdSchema::FieldPaths() const {
  std::vector<std::string> paths;
  CollectPaths(*root_, "", &paths);
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace taas
