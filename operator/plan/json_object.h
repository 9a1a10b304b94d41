// A JSON object of the members that are named, without the arrays of pairs and the copies that
// nlohmann's lists in braces make first: for what is written with every pod.
//
// Ownership: values; rvalues are moved in. Threads: any. Errors: none.
//
//   json port = JsonObject("name", port.name, "port", port.port);

#ifndef OPERATOR_PLAN_JSON_OBJECT_H_
#define OPERATOR_PLAN_JSON_OBJECT_H_

#include <utility>

#include "third_party/json.h"

namespace taas {

inline void AddMembers(nlohmann::json::object_t&) {}

template <typename Value, typename... Rest>
void AddMembers(nlohmann::json::object_t& object, const char* key, Value&& value, Rest&&... rest) {
  object.emplace(key, std::forward<Value>(value));
  AddMembers(object, std::forward<Rest>(rest)...);
}

// Keys and values in turn; of two members of one name the first stays.
template <typename... Members>
nlohmann::json JsonObject(Members&&... members) {
  nlohmann::json object = nlohmann::json::object();
  AddMembers(object.get_ref<nlohmann::json::object_t&>(), std::forward<Members>(members)...);
  return object;
}

}  // namespace taas

#endif  // OPERATOR_PLAN_JSON_OBJECT_H_
