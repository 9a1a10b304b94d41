// One value's schema, as parsed from a CRD, and how its parts are named.
//
// Ownership: immutable once parsed. Threads: const access from any thread. Errors: InvalidArgument
// with the path of the keyword that is not implemented. A JSON value of the wrong type, or a
// pattern that is none, is an exception that CrdSchema::Parse takes.
//
//   ASSIGN_OR_RETURN(const auto root, ParseSchemaNode(version["schema"]["openAPIV3Schema"], ""));

#ifndef OPERATOR_API_SCHEMA_NODE_H_
#define OPERATOR_API_SCHEMA_NODE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/api/crd_schema.h"
#include "third_party/json.h"

namespace taas {

struct CrdSchema::Node {
  std::string type;
  std::string format;
  std::map<std::string, std::shared_ptr<const Node>> properties;
  std::shared_ptr<const Node> items;
  std::shared_ptr<const Node> additional;
  std::vector<std::string> required;
  std::optional<nlohmann::json> default_value;
  std::vector<nlohmann::json> enumeration;
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

absl::StatusOr<std::shared_ptr<const CrdSchema::Node>> ParseSchemaNode(
    const nlohmann::json& schema, const std::string& path);

// A field's name in a path: a longer one, which somebody sent, is cut. What is wrong below it is
// told with the whole path each time, and that must not be megabytes.
inline constexpr size_t kNameInPathMax = 256;
// "spec.roles", "spec.volumes[2]"; a path that is empty is the object itself.
std::string ChildPath(const std::string& path, const std::string& name);
std::string ItemPath(const std::string& path, size_t index);

}  // namespace taas

#endif  // OPERATOR_API_SCHEMA_NODE_H_
