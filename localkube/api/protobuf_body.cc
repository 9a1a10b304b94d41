#include "localkube/api/protobuf_body.h"

#include <utility>

#include "localkube/api/base64.h"
#include "localkube/api/review_fields.h"
#include "operator/api/kube_protobuf.h"
#include "operator/base/protobuf_slice.h"
#include "operator/base/status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

// Numbers of the fields that we read (generated.proto of core/v1 and meta/v1).
constexpr int kObjectMetadata = 1, kReviewSpec = 2;
constexpr int kMetaName = 1, kMetaGenerateName = 2, kMetaNamespace = 3;
constexpr int kMetaLabels = 11, kMetaAnnotations = 12;
constexpr int kEntryKey = 1, kEntryValue = 2;
constexpr int kConfigMapData = 2, kConfigMapBinary = 3;
constexpr int kSecretData = 2, kSecretType = 3, kSecretText = 4;
constexpr int kEvictionOptions = 2;
constexpr int kDeleteGrace = 1, kDeletePreconditions = 2;
constexpr int kPreconditionUid = 1;

absl::Status ReadEntry(std::string_view bytes, json* map, bool base64 = false) {
  std::string key, value;
  RETURN_IF_ERROR(ForEachField(bytes, [&](const ProtobufField& field) {
    if (field.number == kEntryKey) key = std::string(field.bytes);
    if (field.number == kEntryValue) value = std::string(field.bytes);
    return absl::OkStatus();
  }));
  (*map)[key] = base64 ? EncodeBase64(value) : value;
  return absl::OkStatus();
}

absl::Status ReadMetadata(std::string_view bytes, json* metadata) {
  return ForEachField(bytes, [&](const ProtobufField& field) -> absl::Status {
    if (field.number == kMetaLabels) return ReadEntry(field.bytes, &(*metadata)["labels"]);
    if (field.number == kMetaAnnotations) {
      return ReadEntry(field.bytes, &(*metadata)["annotations"]);
    }
    const char* name = field.number == kMetaName           ? "name"
                       : field.number == kMetaGenerateName ? "generateName"
                       : field.number == kMetaNamespace    ? "namespace"
                                                           : nullptr;
    if (name != nullptr && !field.bytes.empty()) (*metadata)[name] = std::string(field.bytes);
    return absl::OkStatus();
  });
}

// What a Delete may ask for: clients send no more of it with an eviction.
absl::Status ReadDeleteOptions(std::string_view bytes, json* options) {
  return ForEachField(bytes, [&](const ProtobufField& field) -> absl::Status {
    if (field.number == kDeleteGrace) {
      (*options)["gracePeriodSeconds"] = static_cast<int64_t>(field.varint);
    }
    if (field.number != kDeletePreconditions) return absl::OkStatus();
    return ForEachField(field.bytes, [&](const ProtobufField& inner) {
      if (inner.number == kPreconditionUid) {
        (*options)["preconditions"]["uid"] = std::string(inner.bytes);
      }
      return absl::OkStatus();
    });
  });
}

// A field of the object beside its metadata.
absl::Status ReadMember(const std::string& kind, int number, std::string_view bytes,
                        json* object) {
  if (HasReviewSpec(kind) && number == kReviewSpec) {
    ASSIGN_OR_RETURN((*object)["spec"], ReviewSpecOfProtobuf(kind, bytes));
    return absl::OkStatus();
  }
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
  if (HasReviewSpec(kind)) return true;
  for (const char* known : {"Namespace", "ServiceAccount", "ConfigMap", "Secret", "Eviction",
                            "SelfSubjectReview"}) {
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
  ASSIGN_OR_RETURN(const std::string_view raw, UnwrapKubeProtobuf(body));
  json object = {
      {"apiVersion", api_version}, {"kind", kind}, {"metadata", json::object()}};
  RETURN_IF_ERROR(ForEachField(raw, [&](const ProtobufField& field) {
    return field.number == kObjectMetadata
               ? ReadMetadata(field.bytes, &object["metadata"])
               : ReadMember(kind, field.number, field.bytes, &object);
  }));
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace taas::localkube
