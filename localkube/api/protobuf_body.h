// Bodies in Kubernetes' protobuf, for the few requests that kubectl sends so: `create namespace`,
// `create
// serviceaccount`.
//
// Only the metadata of such an object says anything, so only that is read.
//
// Ownership: values. Threads: any. Errors: InvalidArgument: another kind, or not the format.
//
//   ASSIGN_OR_RETURN(std::string json, JsonOfProtobuf(kind, body));

#ifndef LOCALKUBE_API_PROTOBUF_BODY_H_
#define LOCALKUBE_API_PROTOBUF_BODY_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "localkube/api/kinds.h"

namespace taas::localkube {

absl::StatusOr<std::string> JsonOfProtobuf(const Kind& kind, std::string_view body);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_PROTOBUF_BODY_H_
