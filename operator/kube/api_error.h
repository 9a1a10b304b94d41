// What an API server said when it did not say yes: metav1.Status as absl::Status.
//
// The code of the result follows the table in README.md; the reason ("AlreadyExists"), the HTTP
// code and Retry-After travel as payloads, so that callers decide on them and not on the text.
//
// Ownership: values. Threads: any. Errors: a body that is no metav1.Status gives a Status by HTTP
// code alone.
//
//   RETURN_IF_ERROR(StatusOfReply(reply, "create pod ns/a-worker-0"));
//   if (ApiReason(status) == "AlreadyExists") …

#ifndef OPERATOR_KUBE_API_ERROR_H_
#define OPERATOR_KUBE_API_ERROR_H_

#include <chrono>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "operator/kube/transport.h"

namespace taas {

struct ApiError {
  int code = 0;  // HTTP code; within a watch, the code of the ERROR event's object.
  std::string reason;
  std::string message;
  std::chrono::seconds retry_after{0};
};

// Reads a metav1.Status, in JSON or in protobuf; `http_code` stands in where the body names no
// code.
ApiError ParseApiError(std::string_view body, int http_code);

// OK for 2xx. `what` says what was attempted on which object: "create pod ns/a".
absl::Status StatusOfReply(const HttpReply& reply, std::string_view what);
absl::Status StatusOfApiError(const ApiError& error, std::string_view what);

// "" and 0 for a Status that no API server's answer made.
std::string ApiReason(const absl::Status& status);
int ApiCode(const absl::Status& status);
std::chrono::seconds ApiRetryAfter(const absl::Status& status);

}  // namespace taas

#endif  // OPERATOR_KUBE_API_ERROR_H_
