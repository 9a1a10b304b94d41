#include "localkube/api/protobuf_body.h"

#include <functional>
#include <utility>

#include "localkube/api/base64.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

// k8s.io/apimachinery/pkg/runtime/serializer/protobuf: four bytes, then a runtime.Unknown.
constexpr std::string_view kMagic{"k8s\0", 4};
// Numbers of the fields that we read (generated.proto of runtime, core/v1 and meta/v1).
constexpr uint64_t kUnknownRaw = 2;
constexpr uint64_t kObjectMetadata = 1;
constexpr uint64_t kMetaName = 1, kMetaGenerateName = 2, kMetaNamespace = 3;
constexpr uint64_t kMetaLabels = 11, kMetaAnnotations = 12;
constexpr uint64_t kEntryKey = 1, kEntryValue = 2;
constexpr uint64_t kConfigMapData = 2, kConfigMapBinary = 3;
constexpr uint64_t kSecretData = 2, kSecretType = 3, kSecretText = 4;
constexpr uint64_t kEvictionOptions = 2;
constexpr uint64_t kDeleteGrace = 1, kDeletePreconditions = 2;
constexpr uint64_t kPreconditionUid = 1;

absl::Status Malformed() {
  return absl::InvalidArgumentError("the body is not Kubernetes' protobuf");
}

bool ReadVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes->empty()) return false;
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

// Calls `field` for each length-delimited field and `whole` for each number; others are skipped.
absl::Status ForEachField(
    std::string_view bytes,
    const std::function<absl::Status(uint64_t, std::string_view)>& field,
    const std::function<void(uint64_t, int64_t)>& whole = [](uint64_t, int64_t) {}) {
  while (!bytes.empty()) {
    uint64_t tag = 0, number = 0;
    if (!ReadVarint(&bytes, &tag)) return Malformed();
    switch (tag & 7) {
      case 0:
        if (!ReadVarint(&bytes, &number)) return Malformed();
        whole(tag >> 3, static_cast<int64_t>(number));
        break;
      case 1:
      case 5: {
        const size_t size = (tag & 7) == 1 ? 8 : 4;
        if (bytes.size() < size) return Malformed();
        bytes.remove_prefix(size);
        break;
      }
      case 2:
        if (!ReadVarint(&bytes, &number) || number > bytes.size()) return Malformed();
        RETURN_IF_ERROR(field(tag >> 3, bytes.substr(0, number)));
        bytes.remove_prefix(number);
        break;
      default:
        return Malformed();
    }
  }
  return absl::OkStatus();
}

absl::Status ReadEntry(std::string_view bytes, json* map, bool base64 = false) {
  std::string key, value;
  RETURN_IF_ERROR(ForEachField(bytes, [&](uint64_t number, std::string_view text) {
    if (number == kEntryKey) key = std::string(text);
    if (number == kEntryValue) value = std::string(text);
    return absl::OkStatus();
  }));
  (*map)[key] = base64 ? EncodeBase64(value) : value;
  return absl::OkStatus();
}

absl::Status ReadMetadata(std::string_view bytes, json* metadata) {
  return ForEachField(bytes, [&](uint64_t number, std::string_view text) -> absl::Status {
    if (number == kMetaLabels) return ReadEntry(text, &(*metadata)["labels"]);
    if (number == kMetaAnnotations) return ReadEntry(text, &(*metadata)["annotations"]);
    const char* name = number == kMetaName           ? "name"
                       : number == kMetaGenerateName ? "generateName"
                       : number == kMetaNamespace    ? "namespace"
                                                     : nullptr;
    if (name != nullptr && !text.empty()) (*metadata)[name] = std::string(text);
    return absl::OkStatus();
  });
}

// What a Delete may ask for: clients send no more of it with an eviction.
absl::Status ReadDeleteOptions(std::string_view bytes, json* options) {
  return ForEachField(
      bytes,
      [&](uint64_t number, std::string_view text) -> absl::Status {
        if (number != kDeletePreconditions) return absl::OkStatus();
        return ForEachField(text, [&](uint64_t inner, std::string_view value) {
          if (inner == kPreconditionUid) {
            (*options)["preconditions"]["uid"] = std::string(value);
          }
          return absl::OkStatus();
        });
      },
      [&](uint64_t number, int64_t value) {
        if (number == kDeleteGrace) (*options)["gracePeriodSeconds"] = value;
      });
}

// A field of the object beside its metadata.
absl::Status ReadMember(const std::string& kind, uint64_t number, std::string_view bytes,
                        json* object) {
  if (kind == "ConfigMap" && number == kConfigMapData) {
    return ReadEntry(bytes, &(*object)["data"]);
  }
  if (kind == "ConfigMap" && number == kConfigMapBinary) {
    return ReadEntry(bytes, &(*object)["binaryData"], /*base64=*/true);
  }
  if (kind == "Secret" && number == kSecretData) {
    return ReadEntry(bytes, &(*object)["data"], /*base64=*/true);
  }
  if (kind == "Secret" && number == kSecretText) {
    return ReadEntry(bytes, &(*object)["stringData"]);
  }
  if (kind == "Secret" && number == kSecretType && !bytes.empty()) {
    (*object)["type"] = std::string(bytes);
  }
  if (kind == "Eviction" && number == kEvictionOptions) {
    return ReadDeleteOptions(bytes, &(*object)["deleteOptions"]);
  }
  return absl::OkStatus();
}

bool IsRead(const std::string& kind) {
  for (const char* known : {"Namespace", "ServiceAccount", "ConfigMap", "Secret", "Eviction"}) {
    if (kind == known) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::string> JsonOfProtobuf(const std::string& api_version,
                                           const std::string& kind, std::string_view body) {
  if (!IsRead(kind)) {
    return absl::InvalidArgumentError("a " + kind + " is not read from protobuf; send JSON");
  }
  if (body.substr(0, kMagic.size()) != kMagic) return Malformed();
  std::string_view raw;
  RETURN_IF_ERROR(ForEachField(body.substr(kMagic.size()),
                               [&](uint64_t number, std::string_view bytes) {
                                 if (number == kUnknownRaw) raw = bytes;
                                 return absl::OkStatus();
                               }));
  json object = {
      {"apiVersion", api_version}, {"kind", kind}, {"metadata", json::object()}};
  RETURN_IF_ERROR(ForEachField(raw, [&](uint64_t number, std::string_view bytes) {
    return number == kObjectMetadata ? ReadMetadata(bytes, &object["metadata"])
                                     : ReadMember(kind, number, bytes, &object);
  }));
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace taas::localkube
