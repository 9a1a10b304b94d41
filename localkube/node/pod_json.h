// Reading members of API objects that may lack them or have them as something else.
//
// An API server lets objects through that nobody expects; a missing or odd member reads as nothing.
//
// Ownership: references into the object given. Threads: any. Errors: none.
//
//   for (const Json& container : Elements(Member(pod, "spec"), "containers")) Text(container,
//   "name");

#ifndef LOCALKUBE_NODE_POD_JSON_H_
#define LOCALKUBE_NODE_POD_JSON_H_

#include <cstdint>
#include <string>

#include "third_party/json.h"

namespace taas::localkube {

inline const nlohmann::json& Member(const nlohmann::json& object, const char* key) {
  static const nlohmann::json kNothing;
  if (!object.is_object()) return kNothing;
  const auto it = object.find(key);
  return it == object.end() ? kNothing : *it;
}

inline std::string Text(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = Member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

inline bool Flag(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = Member(object, key);
  return value.is_boolean() && value.get<bool>();
}

inline int64_t Whole(const nlohmann::json& object, const char* key, int64_t otherwise) {
  const nlohmann::json& value = Member(object, key);
  return value.is_number_integer() ? value.get<int64_t>() : otherwise;
}

// The list at `key`, empty if there is none.
inline const nlohmann::json& Elements(const nlohmann::json& object, const char* key) {
  static const nlohmann::json kNone = nlohmann::json::array();
  const nlohmann::json& value = Member(object, key);
  return value.is_array() ? value : kNone;
}

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_POD_JSON_H_
