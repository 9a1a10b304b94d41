#include "operator/api/schema_node.h"

#include <functional>
#include <utility>

#include "operator/base/status.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using Node = CrdSchema::Node;
using Setter = std::function<absl::Status(const Json&, const std::string& path, Node*)>;

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
    ASSIGN_OR_RETURN(node->properties[name], ParseSchemaNode(schema, ChildPath(path, name)));
  }
  return absl::OkStatus();
}

absl::Status SetItems(const Json& value, const std::string& path, Node* node) {
  ASSIGN_OR_RETURN(node->items, ParseSchemaNode(value, path + "[]"));
  return absl::OkStatus();
}

absl::Status SetAdditional(const Json& value, const std::string& path, Node* node) {
  ASSIGN_OR_RETURN(node->additional, ParseSchemaNode(value, path + "{}"));
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
                           .message_expression =
                               rule.value("messageExpression", std::string()),
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

}  // namespace

absl::StatusOr<std::shared_ptr<const Node>> ParseSchemaNode(const Json& schema,
                                                            const std::string& path) {
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

std::string ChildPath(const std::string& path, const std::string& name) {
  const std::string shown =
      name.size() <= kNameInPathMax ? name : name.substr(0, kNameInPathMax) + "…";
  return path.empty() ? shown : path + "." + shown;
}

std::string ItemPath(const std::string& path, size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

}  // namespace taas
