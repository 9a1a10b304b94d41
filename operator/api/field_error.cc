#include "operator/api/field_error.h"

namespace taas {

std::string FormatFieldError(const FieldError& error) {
  if (IsDecodingError(error) || error.path.empty()) return error.message;
  return error.path + ": " + error.message;
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
