#include "operator/api/crd_schema.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "operator/base/clock.h"
#include "operator/base/status.h"

namespace taas {

using Json = nlohmann::json;

struct CrdSchema::Node {
  std::string type;
  std::string format;
  std::map<std::string, std::shared_ptr<const Node>> properties;
  std::shared_ptr<const Node> items;
  std::shared_ptr<const Node> additional;
  std::vector<std::string> required;
  std::optional<Json> default_value;
  std::vector<Json> enumeration;
  std::optional<double> minimum;
  std::optional<double> maximum;
  bool exclusive_minimum = false;
  bool exclusive_maximum = false;
  std::optional<int64_t> min_length;
  std::optional<int64_t> max_length;
  std::optional<int64_t> min_items;
  std::optional<int64_t> max_items;
  std::optional<int64_t> min_properties;
  std::optional<int64_t> max_properties;
  std::string pattern;
  std::optional<std::regex> regex;
  bool nullable = false;
  bool preserve_unknown = false;
  bool int_or_string = false;
  std::string list_type;
  std::vector<std::string> list_keys;
  std::vector<Rule> rules;
};

namespace {

using Node = CrdSchema::Node;
using Setter = std::function<absl::Status(const Json&, const std::string& path, Node*)>;

// Longer values are cut in messages: the path says which one is meant.
constexpr size_t kMaxValueInMessage = 120;

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

std::string ChildPath(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

std::string ItemPath(const std::string& path, size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

absl::StatusOr<std::shared_ptr<const Node>> ParseNode(const Json& schema, const std::string& path);

template <typename Value>
Setter Copy(Value Node::*member) {
  return [member](const Json& value, const std::string&, Node* node) {
    node->*member = value.get<Value>();
    return absl::OkStatus();
  };
}

template <typename Value>
Setter CopyOptional(std::optional<Value> Node::*member) {
  return [member](const Json& value, const std::string&, Node* node) {
    node->*member = value.get<Value>();
    return absl::OkStatus();
  };
}

absl::Status SetProperties(const Json& value, const std::string& path, Node* node) {
  for (const auto& [name, schema] : value.items()) {
    ASSIGN_OR_RETURN(node->properties[name], ParseNode(schema, ChildPath(path, name)));
  }
  return absl::OkStatus();
}

absl::Status SetItems(const Json& value, const std::string& path, Node* node) {
  ASSIGN_OR_RETURN(node->items, ParseNode(value, path + "[]"));
  return absl::OkStatus();
}

absl::Status SetAdditional(const Json& value, const std::string& path, Node* node) {
  ASSIGN_OR_RETURN(node->additional, ParseNode(value, path + "{}"));
  return absl::OkStatus();
}

absl::Status SetPattern(const Json& value, const std::string&, Node* node) {
  node->pattern = value.get<std::string>();
  node->regex.emplace(node->pattern, std::regex::ECMAScript | std::regex::optimize);
  return absl::OkStatus();
}

absl::Status SetRules(const Json& value, const std::string& path, Node* node) {
  for (const Json& rule : value) {
    node->rules.push_back({.at = path,
                           .rule = rule.at("rule").get<std::string>(),
                           .message = rule.at("message").get<std::string>(),
                           .field_path = rule.value("fieldPath", std::string())});
  }
  return absl::OkStatus();
}

absl::Status Ignore(const Json&, const std::string&, Node*) { return absl::OkStatus(); }

const std::map<std::string, Setter>& Keywords() {
  static const std::map<std::string, Setter> keywords = {
      {"additionalProperties", SetAdditional},
      {"default", CopyOptional<Json>(&Node::default_value)},
      {"description", Ignore},
      {"enum", Copy(&Node::enumeration)},
      {"exclusiveMaximum", Copy(&Node::exclusive_maximum)},
      {"exclusiveMinimum", Copy(&Node::exclusive_minimum)},
      {"format", Copy(&Node::format)},
      {"items", SetItems},
      {"maxItems", CopyOptional<int64_t>(&Node::max_items)},
      {"maxLength", CopyOptional<int64_t>(&Node::max_length)},
      {"maxProperties", CopyOptional<int64_t>(&Node::max_properties)},
      {"maximum", CopyOptional<double>(&Node::maximum)},
      {"minItems", CopyOptional<int64_t>(&Node::min_items)},
      {"minLength", CopyOptional<int64_t>(&Node::min_length)},
      {"minProperties", CopyOptional<int64_t>(&Node::min_properties)},
      {"minimum", CopyOptional<double>(&Node::minimum)},
      {"nullable", Copy(&Node::nullable)},
      {"pattern", SetPattern},
      {"properties", SetProperties},
      {"required", Copy(&Node::required)},
      {"type", Copy(&Node::type)},
      {"x-kubernetes-int-or-string", Copy(&Node::int_or_string)},
      {"x-kubernetes-list-map-keys", Copy(&Node::list_keys)},
      {"x-kubernetes-list-type", Copy(&Node::list_type)},
      {"x-kubernetes-preserve-unknown-fields", Copy(&Node::preserve_unknown)},
      {"x-kubernetes-validations", SetRules},
  };
  return keywords;
}

absl::StatusOr<std::shared_ptr<const Node>> ParseNode(const Json& schema, const std::string& path) {
  if (!schema.is_object()) {
    return absl::InvalidArgumentError("schema of '" + path + "' is not an object");
  }
  auto node = std::make_shared<Node>();
  for (const auto& [keyword, value] : schema.items()) {
    const auto known = Keywords().find(keyword);
    if (known == Keywords().end()) {
      return absl::InvalidArgumentError("schema of '" + path + "': keyword '" + keyword +
                                        "' is not implemented");
    }
    RETURN_IF_ERROR(known->second(value, path, node.get()));
  }
  return std::shared_ptr<const Node>(std::move(node));
}

std::string ValueText(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kMaxValueInMessage) text = text.substr(0, kMaxValueInMessage) + "…";
  return text;
}

// Kubernetes' name for the type of a JSON value.
std::string TypeName(const Json& value) {
  if (value.is_number_integer()) return "integer";
  if (value.is_number()) return "number";
  return value.type_name();
}

bool HasType(const Json& value, const std::string& type) {
  if (type.empty()) return true;
  if (type == "integer") {
    if (value.is_number_integer()) return true;
    if (!value.is_number_float()) return false;
    const double number = value.get<double>();
    return std::isfinite(number) && std::trunc(number) == number;
  }
  return TypeName(value) == type || (type == "number" && value.is_number());
}

int64_t CodePoints(const std::string& text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

// Collects what is wrong with one object.
class Check {
 public:
  std::vector<FieldError> Take() && { return std::move(errors_); }

  void Value(const Node& node, const Json& value, const std::string& path) {
    if (value.is_null() && node.nullable) return;
    const std::string type = node.int_or_string ? "integer,string" : node.type;
    if (node.int_or_string ? !value.is_string() && !HasType(value, "integer")
                           : !HasType(value, type)) {
      const std::string is = TypeName(value);  // Shown in place of the value, as a server does.
      Add(path, kFieldTypeInvalid,
          Invalid(is, path, "must be of type " + type + ": \"" + is + "\""));
      return;
    }
    Enumeration(node, value, path);
    if (value.is_number()) Number(node, value, path);
    if (value.is_string()) String(node, value.get_ref<const std::string&>(), path);
    if (value.is_array()) Array(node, value, path);
    if (value.is_object()) Object(node, value, path);
  }

  // What stands twice in a set or map. A server looks for it in a pass of its own, which writes the
  // keys of a map in brackets.
  void Unique(const Node& node, const Json& value, const std::string& path) {
    if (value.is_array()) {
      UniqueItems(node, value, path);
      if (node.items == nullptr) return;
      for (size_t i = 0; i < value.size(); ++i) Unique(*node.items, value[i], ItemPath(path, i));
    }
    if (!value.is_object()) return;
    for (const auto& [name, member] : value.items()) {
      const auto known = node.properties.find(name);
      if (known != node.properties.end()) {
        Unique(*known->second, member, ChildPath(path, name));
      } else if (node.additional != nullptr) {
        Unique(*node.additional, member, path + "[" + name + "]");
      }
    }
  }

 private:
  void Add(const std::string& path, std::string_view reason, std::string message) {
    errors_.push_back({path, std::string(reason), std::move(message)});
  }

  static std::string Invalid(const Json& value, const std::string& path, const std::string& why) {
    return "Invalid value: " + ValueText(value) + ": " + path + " in body " + why;
  }

  static std::string Items(int64_t count) {
    return std::to_string(count) + (count == 1 ? " item" : " items");
  }

  void Enumeration(const Node& node, const Json& value, const std::string& path) {
    const auto& values = node.enumeration;
    if (values.empty() || std::find(values.begin(), values.end(), value) != values.end()) return;
    std::string supported;
    for (const Json& one : values) supported += (supported.empty() ? "" : ", ") + one.dump();
    Add(path, kFieldNotSupported,
        "Unsupported value: " + ValueText(value) + ": supported values: " + supported);
  }

  void Number(const Node& node, const Json& value, const std::string& path) {
    const double number = value.get<double>();
    if (node.minimum.has_value() &&
        (node.exclusive_minimum ? number <= *node.minimum : number < *node.minimum)) {
      const std::string relation = node.exclusive_minimum ? "" : "or equal to ";
      Add(path, kFieldInvalid,
          Invalid(value, path, "should be greater than " + relation + Bound(*node.minimum)));
    }
    if (node.maximum.has_value() &&
        (node.exclusive_maximum ? number >= *node.maximum : number > *node.maximum)) {
      const std::string relation = node.exclusive_maximum ? "" : "or equal to ";
      Add(path, kFieldInvalid,
          Invalid(value, path, "should be less than " + relation + Bound(*node.maximum)));
    }
  }

  static std::string Bound(double bound) {
    if (std::trunc(bound) == bound) return std::to_string(static_cast<int64_t>(bound));
    return Json(bound).dump();
  }

  void String(const Node& node, const std::string& value, const std::string& path) {
    const int64_t length = CodePoints(value);
    if (node.min_length.has_value() && length < *node.min_length) {
      Add(path, kFieldInvalid,
          Invalid(value, path,
                  "should be at least " + std::to_string(*node.min_length) + " chars long"));
      return;  // A server names one thing that is wrong with a text.
    }
    if (node.max_length.has_value() && length > *node.max_length) {
      Add(path, kFieldTooLong,
          "Too long: may not be more than " + std::to_string(*node.max_length) + " bytes");
      return;  // A pattern is matched on bounded texts only: std::regex recurses.
    }
    if (node.regex.has_value() && !std::regex_search(value, *node.regex)) {
      Add(path, kFieldInvalid, Invalid(value, path, "should match '" + node.pattern + "'"));
    }
    Clock::WallTime time;
    if (node.format == "date-time" && !ParseRfc3339(value, &time)) {
      Add(path, kFieldInvalid,
          Invalid(value, path, "must be of type date-time: \"" + value + "\""));
    }
  }

  void Array(const Node& node, const Json& value, const std::string& path) {
    const auto count = static_cast<int64_t>(value.size());
    if (node.min_items.has_value() && count < *node.min_items) {
      Add(path, kFieldInvalid,
          Invalid(count, path,
                  "should have at least " + std::to_string(*node.min_items) + " items"));
    }
    if (node.max_items.has_value() && count > *node.max_items) {
      Add(path, kFieldTooMany,
          "Too many: " + std::to_string(count) + ": must have at most " +
              Items(*node.max_items));
      return;  // Looking at all of them could be long.
    }
    if (node.items != nullptr) {
      for (size_t i = 0; i < value.size(); ++i) Value(*node.items, value[i], ItemPath(path, i));
    }
  }

  void UniqueItems(const Node& node, const Json& value, const std::string& path) {
    if (node.list_type != "set" && node.list_type != "map") return;
    std::set<std::string> seen;
    for (size_t i = 0; i < value.size(); ++i) {
      Json key = value[i];
      if (node.list_type == "map") {
        if (!value[i].is_object()) continue;  // A type error that stands in the list already.
        key = Json::object();
        for (const std::string& name : node.list_keys) {
          if (value[i].contains(name)) key[name] = value[i][name];
        }
      }
      if (!seen.insert(key.dump(-1, ' ', false, Json::error_handler_t::replace)).second) {
        Add(ItemPath(path, i), kFieldDuplicate, "Duplicate value: " + ValueText(key));
      }
    }
  }

  void Object(const Node& node, const Json& value, const std::string& path) {
    const auto count = static_cast<int64_t>(value.size());
    if (node.min_properties.has_value() && count < *node.min_properties) {
      Add(path, kFieldInvalid,
          Invalid(count, path,
                  "should have at least " + std::to_string(*node.min_properties) + " properties"));
    }
    if (node.max_properties.has_value() && count > *node.max_properties) {
      Add(path, kFieldTooMany,
          "Too many: " + std::to_string(count) + ": must have at most " +
              Items(*node.max_properties));
    }
    for (const std::string& name : node.required) {
      if (!value.contains(name)) Add(ChildPath(path, name), kFieldRequired, "Required value");
    }
    for (const auto& [name, member] : value.items()) {
      const auto known = node.properties.find(name);
      if (known != node.properties.end()) {
        Value(*known->second, member, ChildPath(path, name));
      } else if (node.additional != nullptr) {
        Value(*node.additional, member, ChildPath(path, name));
      }
    }
  }

  std::vector<FieldError> errors_;
};

const Node* ChildOf(const Node& node, const std::string& name) {
  const auto known = node.properties.find(name);
  return known != node.properties.end() ? known->second.get() : node.additional.get();
}

// Calls `unknown(parent, name, path)` for each field that the schema lacks.
using UnknownField = std::function<void(Json* parent, const std::string& name, const std::string&)>;

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
      for (const auto& [field, ignored] : member.items()) {
        if (MetadataFields().count(field) == 0) unknown(nullptr, field, ChildPath(below, field));
      }
    } else if (const Node* child = ChildOf(node, name); child != nullptr) {
      VisitUnknown(*child, &member, below, unknown);
    } else if (!node.preserve_unknown) {
      lacking.push_back(name);
    }
  }
  for (const std::string& name : lacking) unknown(value, name, ChildPath(path, name));
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

}  // namespace

absl::StatusOr<CrdSchema> CrdSchema::Parse(const Json& crd) {
  try {
    const Json* version = StoredVersion(crd);
    if (version == nullptr) return absl::InvalidArgumentError("the CRD stores no version");
    ASSIGN_OR_RETURN(std::shared_ptr<const Node> root,
                     ParseNode(version->at("schema").at("openAPIV3Schema"), ""));
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
  VisitUnknown(*root_, &copy, "", [&errors](Json*, const std::string&, const std::string& path) {
    errors.push_back({path, std::string(kFieldUnknown), "unknown field \"" + path + "\""});
  });
  return errors;
}

void CrdSchema::Prune(Json* object) const {
  std::vector<std::string> metadata;
  VisitUnknown(*root_, object, "",
               [&metadata](Json* parent, const std::string& name, const std::string&) {
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
  Check check;
  check.Value(*root_, object, "");
  check.Unique(*root_, object, "");
  return std::move(check).Take();
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
