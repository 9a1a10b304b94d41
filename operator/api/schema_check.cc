#include "operator/api/schema_check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/schema_node.h"
#include "operator/base/clock.h"
#include "operator/base/closest_name.h"

namespace taas {
namespace {

using Json = nlohmann::json;
using Node = CrdSchema::Node;

// More are told without a hint.
constexpr size_t kHintsMax = 64;
// Longer values are cut in messages: the path says which one is meant.
constexpr size_t kMaxValueInMessage = 120;

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

  // The value that was probably meant, of the first ones that are wrong.
  std::string Meant(const Json& value, const std::vector<Json>& values) const {
    if (!value.is_string() || errors_.size() > kHintsMax) return "";
    std::vector<std::string> texts;
    for (const Json& one : values) {
      if (one.is_string()) texts.push_back(one.get<std::string>());
    }
    return DidYouMean(value.get_ref<const std::string&>(), texts);
  }

  void Enumeration(const Node& node, const Json& value, const std::string& path) {
    const auto& values = node.enumeration;
    if (values.empty() || std::find(values.begin(), values.end(), value) != values.end()) return;
    std::string supported;
    for (const Json& one : values) supported += (supported.empty() ? "" : ", ") + one.dump();
    Add(path, kFieldNotSupported,
        "Unsupported value: " + ValueText(value) + ": supported values: " + supported);
    errors_.back().hint = Meant(value, values);
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

}  // namespace

std::vector<FieldError> CheckSchema(const CrdSchema::Node& root, const Json& object) {
  Check check;
  check.Value(root, object, "");
  check.Unique(root, object, "");
  return std::move(check).Take();
}

}  // namespace taas
