// Fields of `spec.trainer`, taken strictly: what is unknown, of another type or out of range
// is an error that names the field.
//
// Ownership: values. Threads: any. Errors: InvalidArgument, "data.csv.header: must be true or
// false".
//
//   RETURN_IF_ERROR(CheckFields(spec, "data.csv", {"header", "labelColumn"}));
//   ASSIGN_OR_RETURN(const std::string label, TextField(spec, "data.csv", "labelColumn"));

#ifndef TRAINER_CONFIG_SPEC_FIELDS_H_
#define TRAINER_CONFIG_SPEC_FIELDS_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace taas {

absl::Status InvalidField(const std::string& field, const std::string& why);

// `value` is an object, of whose fields none but `known` are there.
absl::Status CheckFields(const nlohmann::json& value, const std::string& path,
                         std::span<const std::string_view> known);
inline absl::Status CheckFields(const nlohmann::json& value, const std::string& path,
                                std::initializer_list<std::string_view> known) {
  return CheckFields(value, path, std::span(known.begin(), known.size()));
}

// A text that is not empty and must be there.
absl::StatusOr<std::string> TextField(const nlohmann::json& value, const std::string& path,
                                      const char* name);
// The place of the text in `choices`; 0, the default, if there is none.
absl::StatusOr<size_t> ChoiceField(const nlohmann::json& value, const std::string& path,
                                   const char* name, std::initializer_list<const char*> choices);
absl::StatusOr<bool> FlagField(const nlohmann::json& value, const std::string& path,
                               const char* name, bool fallback);
// Empty if it is not there.
absl::StatusOr<std::vector<std::string>> TextsField(const nlohmann::json& value,
                                                    const std::string& path, const char* name);
absl::StatusOr<std::optional<double>> RealField(const nlohmann::json& value,
                                                const std::string& path, const char* name);

// At least 0 and less than 1.
absl::StatusOr<double> ShareField(const nlohmann::json& value, const std::string& path,
                                  const char* name, double fallback);

struct WholeRange {
  int64_t fallback;
  int64_t least;
  int64_t most;
};
absl::StatusOr<int64_t> WholeField(const nlohmann::json& value, const std::string& path,
                                   const char* name, WholeRange range);
// Sizes of which the product is at most kShapeValuesMax; empty if it is not there.
inline constexpr int64_t kShapeValuesMax = 1 << 24;
absl::StatusOr<std::vector<int64_t>> ShapeField(const nlohmann::json& value,
                                                const std::string& path, const char* name);

}  // namespace taas

#endif  // TRAINER_CONFIG_SPEC_FIELDS_H_
