// Bodies in Kubernetes' protobuf, for the few requests that kubectl sends so: `create namespace`,
// `create serviceaccount`, `create configmap`, `create secret`, `drain`, `auth can-i` and `whoami`.
//
// Of the metadata names, labels and annotations are read, of the object its data, of a review what
// it asks.
//
// Ownership: values. Threads: any. Errors: InvalidArgument: another kind, or not the format.
//
//   ASSIGN_OR_RETURN(std::string json, JsonOfProtobuf("v1", "Secret", body));

#ifndef LOCALKUBE_API_PROTOBUF_BODY_H_
#define LOCALKUBE_API_PROTOBUF_BODY_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taas::localkube {

absl::StatusOr<std::string> JsonOfProtobuf(const std::string& api_version,
                                           const std::string& kind, std::string_view body);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_PROTOBUF_BODY_H_
