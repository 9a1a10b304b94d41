// One thing that is wrong with a manifest: where, of which kind, in words.
//
// Reasons and words are those of a kube-apiserver, so that a user reads the same from `taas
// validate`, from the local cluster and from a real one.
//
// Ownership: value type. Threads: any. Errors: it is one.
//
//   {"spec.backoffLimit", "FieldValueInvalid", "Invalid value: -1: … greater than or equal to 0"}

#ifndef OPERATOR_API_FIELD_ERROR_H_
#define OPERATOR_API_FIELD_ERROR_H_

#include <string>
#include <string_view>
#include <vector>

namespace taas {

// Causes of a 422, as metav1.StatusCause names them.
inline constexpr std::string_view kFieldInvalid = "FieldValueInvalid";
inline constexpr std::string_view kFieldRequired = "FieldValueRequired";
inline constexpr std::string_view kFieldNotSupported = "FieldValueNotSupported";
inline constexpr std::string_view kFieldDuplicate = "FieldValueDuplicate";
inline constexpr std::string_view kFieldNotFound = "FieldValueNotFound";
inline constexpr std::string_view kFieldTypeInvalid = "FieldValueTypeInvalid";
inline constexpr std::string_view kFieldTooLong = "FieldValueTooLong";
inline constexpr std::string_view kFieldTooMany = "FieldValueTooMany";
// What makes a strict server answer 400 before it looks at values.
inline constexpr std::string_view kFieldUnknown = "UnknownField";
inline constexpr std::string_view kFieldTwice = "DuplicateField";
inline constexpr std::string_view kMalformed = "Malformed";

struct FieldError {
  std::string path;     // "spec.volumes[0].name"; empty: the whole text.
  std::string reason;   // One of the above.
  std::string message;  // Without the path, in a server's words.
  std::string hint = {};  // What no server adds: "did you mean "maxSteps"?".

  bool operator==(const FieldError&) const = default;
};

// True for what a server that decodes strictly refuses with 400; the rest is 422.
inline bool IsDecodingError(const FieldError& error) {
  return error.reason == kFieldUnknown || error.reason == kFieldTwice || error.reason == kMalformed;
}

inline bool HasDecodingError(const std::vector<FieldError>& errors) {
  for (const FieldError& error : errors) {
    if (IsDecodingError(error)) return true;
  }
  return false;
}

// "spec.maxSteps: Required value"; decoding errors read `unknown field "spec.x"` as a server's do.
// The hint follows in parentheses.
std::string FormatFieldError(const FieldError& error);
// All of them, separated by ", ".
std::string FormatFieldErrors(const std::vector<FieldError>& errors);

}  // namespace taas

#endif  // OPERATOR_API_FIELD_ERROR_H_
