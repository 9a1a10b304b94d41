#include "operator/api/kube_protobuf.h"

#include "operator/base/protobuf_slice.h"
#include "operator/base/status.h"

namespace taas {
namespace {

constexpr std::string_view kMagic{"k8s\0", 4};
constexpr int kUnknownRaw = 2;

}  // namespace

bool IsKubeProtobuf(std::string_view object) { return object.starts_with(kMagic); }

absl::StatusOr<std::string_view> UnwrapKubeProtobuf(std::string_view object) {
  if (!IsKubeProtobuf(object)) {
    return absl::InvalidArgumentError("the object is not in the envelope of Kubernetes' protobuf");
  }
  std::string_view raw;
  RETURN_IF_ERROR(ForEachField(object.substr(kMagic.size()), [&raw](const ProtobufField& field) {
    if (field.number == kUnknownRaw) raw = field.bytes;
    return absl::OkStatus();
  }));
  return raw;
}

std::string WrapKubeProtobuf(std::string_view message) {
  std::string object(kMagic);
  AppendField(kUnknownRaw, message, &object);
  return object;
}

}  // namespace taas
