// The member of a JSON object that somebody else wrote, whatever it is.
//
// Ownership: borrows `value`. Threads: any. Errors: none; null where there is no such member or
// where `value` is no object.
//
//   const nlohmann::json& usage = Member(container, "usage");

#ifndef OPERATOR_API_JSON_MEMBER_H_
#define OPERATOR_API_JSON_MEMBER_H_

#include "third_party/json.h"

namespace taas {

inline const nlohmann::json& Member(const nlohmann::json& value, const char* key) {
  static const nlohmann::json kNone;
  if (!value.is_object()) return kNone;
  const auto found = value.find(key);
  return found == value.end() ? kNone : *found;
}

}  // namespace taas

#endif  // OPERATOR_API_JSON_MEMBER_H_
