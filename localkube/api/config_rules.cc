#include "localkube/api/config_rules.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "localkube/api/base64.h"
#include "localkube/api/kube_status.h"
#include "operator/api/field_error.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

constexpr size_t kKeyMax = 253;
constexpr char kKeyRule[] =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";

bool IsSecret(const Kind& kind) { return kind.group.empty() && kind.kind == "Secret"; }
bool IsConfigMap(const Kind& kind) { return kind.group.empty() && kind.kind == "ConfigMap"; }

bool IsKey(const std::string& key) {
  if (key.empty() || key.size() > kKeyMax || key == "." || key == "..") return false;
  return std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
}

std::string NameOf(const json& object) { return object["metadata"].value("name", ""); }

// One map of the object: its types, its keys; adds its bytes.
absl::Status CheckMap(const Kind& kind, const json& object, const char* field, bool base64,
                      size_t* bytes, std::vector<FieldError>* errors) {
  const auto map = object.find(field);
  if (map == object.end() || map->is_null()) return absl::OkStatus();
  const std::string handled =
      kind.kind + " in version \"v1\" cannot be handled as a " + kind.kind + ": ";
  const std::string type = base64 ? "map[string][]uint8" : "map[string]string";
  if (!map->is_object()) {
    return BadRequest(handled + "json: cannot unmarshal " + map->type_name() +
                      " into Go struct field " + kind.kind + "." + field + " of type " + type);
  }
  for (const auto& [key, value] : map->items()) {
    if (!value.is_string()) {
      return BadRequest(handled + "json: cannot unmarshal " + value.type_name() +
                        " into Go struct field " + kind.kind + "." + field + " of type " +
                        (base64 ? "[]uint8" : "string"));
    }
    const auto& text = value.get_ref<const std::string&>();
    if (base64) {
      const std::optional<std::string> decoded = DecodeBase64(text);
      if (!decoded.has_value()) {
        return BadRequest(handled + "illegal base64 data in " + field + "." + key);
      }
      *bytes += decoded->size();
    } else {
      *bytes += text.size();
    }
    if (IsKey(key)) continue;
    errors->push_back({std::string(field) + "[" + key + "]", std::string(kFieldInvalid),
                       "Invalid value: \"" + key + "\": " + kKeyRule});
  }
  return absl::OkStatus();
}

}  // namespace

void CompleteConfig(const Kind& kind, json* object) {
  if (!IsSecret(kind)) return;
  if (!object->contains("type")) (*object)["type"] = "Opaque";
  const auto plain = object->find("stringData");
  if (plain == object->end() || !plain->is_object()) return;
  const json texts = *plain;
  for (const auto& [key, value] : texts.items()) {
    if (!value.is_string()) return;  // CheckConfig refuses it.
  }
  json& data = (*object)["data"];
  if (data.is_null()) data = json::object();
  if (!data.is_object()) return;
  for (const auto& [key, value] : texts.items()) {
    data[key] = EncodeBase64(value.get<std::string>());
  }
  object->erase("stringData");
}

absl::Status CheckConfig(const Kind& kind, const json& object) {
  if (!IsSecret(kind) && !IsConfigMap(kind)) return absl::OkStatus();
  size_t bytes = 0;
  std::vector<FieldError> errors;
  RETURN_IF_ERROR(CheckMap(kind, object, "data", IsSecret(kind), &bytes, &errors));
  RETURN_IF_ERROR(CheckMap(kind, object, IsSecret(kind) ? "stringData" : "binaryData",
                           !IsSecret(kind), &bytes, &errors));
  if (bytes > kConfigBytesMax) {
    errors.push_back({IsSecret(kind) ? "data" : "", std::string(kFieldTooLong),
                      "Too long: may not be more than " + std::to_string(kConfigBytesMax) +
                          " bytes"});
  }
  return errors.empty() ? absl::OkStatus() : Invalid(kind, NameOf(object), errors);
}

absl::Status CheckConfigUpdate(const Kind& kind, const json& old, const json& changed) {
  if (!IsSecret(kind) && !IsConfigMap(kind)) return absl::OkStatus();
  RETURN_IF_ERROR(CheckConfig(kind, changed));
  std::vector<FieldError> errors;
  const auto keep = [&](const char* field, const std::string& why) {
    if (old.value(field, json()) == changed.value(field, json())) return;
    errors.push_back({field, "FieldValueForbidden", "Forbidden: " + why});
  };
  if (old.value("immutable", json()) == json(true)) {
    const std::string why = "field is immutable when `immutable` is set";
    for (const char* field : {"immutable", "data", "binaryData"}) keep(field, why);
  }
  if (IsSecret(kind) && old.value("type", json()) != changed.value("type", json())) {
    errors.push_back({"type", std::string(kFieldInvalid),
                      "Invalid value: " + changed.value("type", json()).dump() +
                          ": field is immutable"});
  }
  return errors.empty() ? absl::OkStatus() : Invalid(kind, NameOf(old), errors);
}

}  // namespace taas::localkube
