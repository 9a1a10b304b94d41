// One CEL rule of a CRD, as code: the local cluster and `taas validate` evaluate no CEL.
//
// Ownership: values; a twin holds no state. Threads: any. Errors: FieldErrors.
//
//   {"spec.roles", "may not come or go", ".worker", [](const Json& self, const Json* old) { … }}

#ifndef OPERATOR_API_RULE_TWIN_H_
#define OPERATOR_API_RULE_TWIN_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "operator/api/field_error.h"
#include "third_party/json.h"

namespace taas {

struct RuleTwin {
  // `self` is the value that the rule is attached to; `old` what was there before, null if nothing
  // was. Rules that compare with the past hold for a value that has none.
  using Predicate = std::function<bool(const nlohmann::json& self, const nlohmann::json* old)>;

  // As in the CRD: path, with "[]" for each item of a list and "{}" for each value of a map; words;
  // and where below the value the error is shown.
  std::string at;
  std::string message;
  std::string field;
  Predicate holds;
  // Of a rule with a messageExpression: what is said in place of `message`; null: that.
  std::function<std::string(const nlohmann::json& self)> says = nullptr;
  // What a person is told beside it (FieldError::hint); null: nothing.
  std::function<std::string(const nlohmann::json& self)> hint = nullptr;
};

std::vector<FieldError> BrokenTwins(const std::vector<RuleTwin>& twins,
                                    const nlohmann::json& object, const nlohmann::json* old);

// The value below `from`, or null.
const nlohmann::json& ValueAt(const nlohmann::json& from, std::initializer_list<const char*> keys);
// The number below `from`, or 0.
int64_t NumberAt(const nlohmann::json& from, std::initializer_list<const char*> keys);

}  // namespace taas

#endif  // OPERATOR_API_RULE_TWIN_H_
