#include "operator/api/json_field.h"

#include <cmath>
#include <limits>

#include "operator/api/json_depth.h"

namespace taas {
namespace {

using Json = nlohmann::json;

// The path says which value is meant; its beginning is enough.
constexpr size_t kMaxValueInMessage = 80;

// Messages stand in logs and events. What users say of their own containers may be a password.
bool MayBeSecret(std::string_view path) {
  for (const std::string_view part : {".template", ".env", "metadata."}) {
    if (path.find(part) != std::string_view::npos) return true;
  }
  return false;
}

// Whole numbers are compared as such: the greatest of them are none of a double's.
template <typename Integer>
bool Fits(const Json& value) {
  using Limits = std::numeric_limits<Integer>;
  if (value.is_number_unsigned()) {
    return value.get<uint64_t>() <= static_cast<uint64_t>(Limits::max());
  }
  if (value.is_number_integer()) {
    const auto number = value.get<int64_t>();
    return number >= Limits::min() && number <= Limits::max();
  }
  // 4.0 is 4. 2^63 itself is no int64_t, but the nearest double of its predecessor.
  const double number = value.get<double>();
  return std::trunc(number) == number && number >= static_cast<double>(Limits::min()) &&
         (sizeof(Integer) < 8 ? number <= static_cast<double>(Limits::max()) : number < 0x1p63);
}

const char* KindOf(const Json& value) {
  if (value.is_string()) return "a text";
  if (value.is_number()) return "a number";
  if (value.is_boolean()) return "true or false";
  return value.is_array() ? "a list" : "an object";
}

}  // namespace

std::string DumpJson(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<Json> ParseJsonObject(std::string_view text) {
  if (IsNestedDeeper(text, kJsonDepthMax)) {
    return absl::InvalidArgumentError("the text is nested more than " +
                                      std::to_string(kJsonDepthMax) + " levels deep");
  }
  Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) return absl::InvalidArgumentError("the text is not JSON");
  if (!object.is_object()) return absl::InvalidArgumentError("the text is not a JSON object");
  return object;
}

std::string JsonField::Text() const { return present() ? DumpJson(*value_) : std::string(); }

absl::StatusOr<JsonField> JsonField::Object() const {
  if (present() && !value_->is_object()) return Wrong("an object");
  return *this;
}

absl::StatusOr<std::vector<JsonField>> JsonField::Items() const {
  std::vector<JsonField> items;
  if (!present()) return items;
  if (!value_->is_array()) return Wrong("a list");
  for (size_t i = 0; i < value_->size(); ++i) {
    items.emplace_back(&(*value_)[i], path_ + "[" + std::to_string(i) + "]");
  }
  return items;
}

JsonField JsonField::operator[](const std::string& key) const {
  std::string below;
  below.reserve(path_.size() + 1 + key.size());
  below.append(path_).append(path_.empty() ? "" : ".").append(key);
  if (!present() || !value_->is_object()) return JsonField(nullptr, std::move(below));
  const auto member = value_->find(key);
  return JsonField(member == value_->end() ? nullptr : &*member, std::move(below));
}

absl::Status JsonField::Read(std::string* out) const {
  if (!present()) return absl::OkStatus();
  if (!value_->is_string()) return Wrong("a text");
  *out = value_->get<std::string>();
  return absl::OkStatus();
}

absl::Status JsonField::Read(bool* out) const {
  if (!present()) return absl::OkStatus();
  if (!value_->is_boolean()) return Wrong("true or false");
  *out = value_->get<bool>();
  return absl::OkStatus();
}

absl::Status JsonField::Read(double* out) const {
  if (!present()) return absl::OkStatus();
  if (!value_->is_number()) return Wrong("a number");
  *out = value_->get<double>();
  return absl::OkStatus();
}

template <typename Integer>
absl::Status JsonField::ReadInteger(Integer* out) const {
  if (!present()) return absl::OkStatus();
  if (!value_->is_number()) return Wrong("a whole number");
  if (!Fits<Integer>(*value_)) return Wrong("a whole number in range");
  *out = value_->get<Integer>();
  return absl::OkStatus();
}

absl::Status JsonField::Read(int32_t* out) const { return ReadInteger(out); }

absl::Status JsonField::Read(int64_t* out) const { return ReadInteger(out); }

absl::Status JsonField::Read(Clock::WallTime* out) const {
  if (!present()) return absl::OkStatus();
  if (!value_->is_string() || !ParseRfc3339(value_->get_ref<const std::string&>(), out)) {
    return Wrong("a time such as 2026-11-21T05:54:17Z");
  }
  return absl::OkStatus();
}

absl::Status JsonField::Wrong(const std::string& want) const {
  if (present() && MayBeSecret(path_)) {
    return absl::InvalidArgumentError(path_ + ": it is " + KindOf(*value_) + " and not " + want);
  }
  std::string text = Text();
  if (text.size() > kMaxValueInMessage) text = text.substr(0, kMaxValueInMessage) + "…";
  return absl::InvalidArgumentError(path_ + ": " + text + " is not " + want);
}

absl::Status JsonField::Missing() const {
  return absl::InvalidArgumentError(path_ + ": is missing");
}

}  // namespace taas
