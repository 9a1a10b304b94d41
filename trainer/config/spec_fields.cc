#include "trainer/config/spec_fields.h"

#include <algorithm>
#include <cmath>

#include "operator/base/closest_name.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {
namespace {

using nlohmann::json;

// Null if there is none.
const json* Find(const json& value, const char* name) {
  const auto found = value.find(name);
  return found == value.end() ? nullptr : &*found;
}

bool IsText(const json& value) {
  return value.is_string() && !value.get_ref<const std::string&>().empty();
}

}  // namespace

absl::Status InvalidField(const std::string& field, const std::string& why) {
  return absl::InvalidArgumentError(field + ": " + why);
}

absl::Status CheckFields(const json& value, const std::string& path,
                         std::span<const std::string_view> known) {
  if (!value.is_object()) return InvalidField(path, "must be an object");
  for (const auto& [name, unused] : value.items()) {
    if (std::ranges::find(known, name) == known.end()) {
      const std::string meant = DidYouMean(name, {known.begin(), known.end()});
      return InvalidField(path + "." + name, "unknown field" + (meant.empty() ? "" : "; " + meant));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> TextField(const json& value, const std::string& path,
                                      const char* name) {
  const json* const found = Find(value, name);
  const std::string field = path + "." + name;
  if (found == nullptr) return InvalidField(field, "is missing");
  if (!IsText(*found)) return InvalidField(field, "must be a text that is not empty");
  return found->get<std::string>();
}

absl::StatusOr<size_t> ChoiceField(const json& value, const std::string& path, const char* name,
                                   std::initializer_list<const char*> choices) {
  const json* const found = Find(value, name);
  if (found == nullptr) return size_t{0};
  std::string texts;
  size_t place = 0;
  for (const char* const choice : choices) {
    if (*found == choice) return place;
    texts += std::string(place++ == 0 ? "" : ", ") + choice;
  }
  return InvalidField(path + "." + name, "must be one of " + texts);
}

absl::StatusOr<bool> FlagField(const json& value, const std::string& path, const char* name,
                               bool fallback) {
  const json* const found = Find(value, name);
  if (found == nullptr) return fallback;
  if (found->is_boolean()) return found->get<bool>();
  return InvalidField(path + "." + name, "must be true or false");
}

absl::StatusOr<std::vector<std::string>> TextsField(const json& value, const std::string& path,
                                                    const char* name) {
  const json* const found = Find(value, name);
  if (found == nullptr) return std::vector<std::string>();
  if (found->is_array() && !found->empty() && std::ranges::all_of(*found, IsText)) {
    return found->get<std::vector<std::string>>();
  }
  return InvalidField(path + "." + name, "must be a list of texts that are not empty");
}

absl::StatusOr<std::optional<double>> RealField(const json& value, const std::string& path,
                                                const char* name) {
  const json* const found = Find(value, name);
  if (found == nullptr) return std::optional<double>();
  if (found->is_number()) {
    const double number = found->get<double>();
    // What becomes of it as a float must be a number, too.
    if (std::isfinite(static_cast<float>(number))) return std::optional<double>(number);
  }
  return InvalidField(path + "." + name, "must be a number");
}

absl::StatusOr<double> ShareField(const json& value, const std::string& path, const char* name,
                                  double fallback) {
  ASSIGN_OR_RETURN(const std::optional<double> given, RealField(value, path, name));
  const double share = given.value_or(fallback);
  if (share >= 0 && share < 1) return share;
  return InvalidField(path + "." + name, "must be at least 0 and less than 1");
}

absl::StatusOr<int64_t> WholeField(const json& value, const std::string& path, const char* name,
                                   WholeRange range) {
  const json* const found = Find(value, name);
  if (found == nullptr) return range.fallback;
  if (found->is_number_integer()) {
    const int64_t number = found->get<int64_t>();
    if (number >= range.least && number <= range.most) return number;
  }
  return InvalidField(path + "." + name, "must be a whole number from " +
                                             std::to_string(range.least) + " to " +
                                             std::to_string(range.most));
}

absl::StatusOr<std::vector<int64_t>> ShapeField(const json& value, const std::string& path,
                                                const char* name) {
  const json* const found = Find(value, name);
  std::vector<int64_t> shape;
  if (found == nullptr) return shape;
  const absl::Status wrong =
      InvalidField(path + "." + name, "must be a list of sizes of at least 1, with at most " +
                                          std::to_string(kShapeValuesMax) + " values together");
  if (!found->is_array()) return wrong;
  int64_t product = 1;
  for (const json& size : *found) {
    if (!size.is_number_integer() || size < 1 || size > kShapeValuesMax) return wrong;
    shape.push_back(size.get<int64_t>());
    product *= shape.back();
    if (product > kShapeValuesMax) return wrong;
  }
  return shape;
}

}  // namespace taas
