// Collects what is wrong with one object, up to a bound.
//
// A body of three megabytes can be wrong in a million places; the answer names the first of them.
//
// Ownership: value. Threads: one at a time. Errors: it holds them.
//
//   FieldErrors errors;
//   errors.Invalid("spec.containers[0].name", "\"A\"", kDnsLabelRule);
//   return std::move(errors).Take();

#ifndef LOCALKUBE_API_RULES_FIELD_ERRORS_H_
#define LOCALKUBE_API_RULES_FIELD_ERRORS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/api/field_error.h"

namespace taas::localkube {

// More than anybody reads.
inline constexpr size_t kFieldErrorsMax = 100;

class FieldErrors {
 public:
  void Add(std::string path, std::string_view reason, std::string message) {
    if (errors_.size() >= kFieldErrorsMax) return;
    errors_.push_back({std::move(path), std::string(reason), std::move(message)});
  }
  void Required(std::string path, const std::string& why = "") {
    Add(std::move(path), kFieldRequired, "Required value" + (why.empty() ? "" : ": " + why));
  }
  // `value` as it is to be shown: a text with its quotes.
  void Invalid(std::string path, const std::string& value, const std::string& why) {
    Add(std::move(path), kFieldInvalid, "Invalid value: " + value + ": " + why);
  }
  void Forbidden(std::string path, const std::string& why) {
    Add(std::move(path), "FieldValueForbidden", "Forbidden: " + why);
  }
  bool empty() const { return errors_.empty(); }
  std::vector<FieldError> Take() && { return std::move(errors_); }

 private:
  std::vector<FieldError> errors_;
};

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_RULES_FIELD_ERRORS_H_
