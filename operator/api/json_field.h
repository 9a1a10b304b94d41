// A JSON value and where it stands, so that every error of a decoder names its field.
//
// Absent and null are the same, as they are to Kubernetes; reading an absent field leaves what was
// there, so that a struct's initial values are its defaults.
//
// Ownership: borrows the document, which must outlive it. Threads: const methods from any thread.
// Errors: InvalidArgument "spec.roles.ps.replicas: "2" is not a whole number".
//
//   const JsonField root(&object, "");
//   RETURN_IF_ERROR(root["spec"]["suspend"].Read(&suspend));

#ifndef OPERATOR_API_JSON_FIELD_H_
#define OPERATOR_API_JSON_FIELD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas {

class JsonField {
 public:
  JsonField(const nlohmann::json* value, std::string path)
      : value_(value), path_(std::move(path)) {}

  bool present() const { return value_ != nullptr && !value_->is_null(); }
  // Of a field that is present.
  const nlohmann::json& json() const { return *value_; }
  const std::string& path() const { return path_; }
  // Compact JSON; empty if absent.
  std::string Text() const;

  // This field, if it is absent or an object; else an error.
  absl::StatusOr<JsonField> Object() const;
  // The items of a list; none if absent; an error if it is something else.
  absl::StatusOr<std::vector<JsonField>> Items() const;

  // Of an object; absent below what is absent or not an object.
  JsonField operator[](const std::string& key) const;

  absl::Status Read(std::string* out) const;
  absl::Status Read(bool* out) const;
  absl::Status Read(double* out) const;
  absl::Status Read(int32_t* out) const;
  absl::Status Read(int64_t* out) const;
  absl::Status Read(Clock::WallTime* out) const;

  template <typename Value>
  absl::Status Read(std::optional<Value>* out) const {
    if (!present()) return absl::OkStatus();
    Value value{};
    RETURN_IF_ERROR(Read(&value));
    *out = std::move(value);
    return absl::OkStatus();
  }

  template <typename Value>
  absl::Status Read(std::vector<Value>* out) const {
    ASSIGN_OR_RETURN(const std::vector<JsonField> items, Items());
    for (const JsonField& item : items) RETURN_IF_ERROR(item.Read(&out->emplace_back()));
    return absl::OkStatus();
  }

  // A name that `value_of` knows, such as RestartPolicyFromName; `want` says which those are.
  template <typename Value, typename ValueOf>
  absl::Status ReadName(ValueOf value_of, const std::string& want, Value* out) const {
    if (!present()) return absl::OkStatus();
    std::string name;
    RETURN_IF_ERROR(Read(&name));
    const std::optional<Value> value = value_of(name);
    if (!value.has_value()) return Wrong(want);
    *out = *value;
    return absl::OkStatus();
  }

  // "PATH: VALUE is not WANT"
  absl::Status Wrong(const std::string& want) const;
  // "PATH: is missing"
  absl::Status Missing() const;

 private:
  template <typename Integer>
  absl::Status ReadInteger(Integer* out) const;

  const nlohmann::json* value_;
  std::string path_;
};

// The whole text as an object; an error if it is none, or nested more deeply than kJsonDepthMax.
absl::StatusOr<nlohmann::json> ParseJsonObject(std::string_view text);

// The text of a member of `object`; empty if there is none, as null is none, and where `object` is
// no object at all. For json and ordered_json.
template <typename Json>
std::string TextOf(const Json& object, const char* key) {
  const auto member = object.find(key);
  return member != object.end() && member->is_string() ? member->template get<std::string>() : "";
}

// Compact, with what is not UTF-8 replaced.
std::string DumpJson(const nlohmann::json& value);

}  // namespace taas

#endif  // OPERATOR_API_JSON_FIELD_H_
