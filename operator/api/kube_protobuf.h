// The envelope of Kubernetes around a message of Protocol Buffers that stands alone: four bytes,
// then a runtime.Unknown (k8s.io/apimachinery/pkg/runtime/generated.proto) whose field `raw` is the
// message.
//
// Ownership: slices point into the caller's bytes. Threads: any. Errors: InvalidArgument for bytes
// that are not in the envelope.
//
//   ASSIGN_OR_RETURN(const std::string_view pod, UnwrapKubeProtobuf(reply.body));

#ifndef OPERATOR_API_KUBE_PROTOBUF_H_
#define OPERATOR_API_KUBE_PROTOBUF_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taas {

// What `Accept` says for protobuf, or JSON from a server that has no protobuf of this kind.
inline constexpr std::string_view kProtobufOrJson =
    "application/vnd.kubernetes.protobuf, application/json";

// JSON never starts so.
bool IsKubeProtobuf(std::string_view object);
absl::StatusOr<std::string_view> UnwrapKubeProtobuf(std::string_view object);
std::string WrapKubeProtobuf(std::string_view message);

}  // namespace taas

#endif  // OPERATOR_API_KUBE_PROTOBUF_H_
