#include "operator/api/field_error.h"

namespace taas {

std::string FormatFieldError(const FieldError& error) {
  std::string text = error.message;
  if (!IsDecodingError(error) && !error.path.empty()) text = error.path + ": " + text;
  return error.hint.empty() ? text : text + " (" + error.hint + ")";
}

std::string FormatFieldErrors(const std::vector<FieldError>& errors) {
  std::string out;
  for (const FieldError& error : errors) {
    if (!out.empty()) out += ", ";
    out += FormatFieldError(error);
  }
  return out;
}

}  // namespace taas
