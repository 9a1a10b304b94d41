// Errors of the Kubernetes API: a metav1.Status inside an absl::Status.
//
// Functions below make the errors of a kube-apiserver, words included; StatusBody turns any
// absl::Status
// into the body and the code that go over the wire.
//
// Ownership: values. Threads: any. Errors: it makes them.
//
//   return NotFound(kind, name);
//   …
//   response.body = StatusBody(status, &response.code);

#ifndef LOCALKUBE_API_KUBE_STATUS_H_
#define LOCALKUBE_API_KUBE_STATUS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "localkube/api/kinds.h"
#include "operator/api/field_error.h"

namespace taas::localkube {

absl::Status NotFound(const Kind& kind, const std::string& name);
absl::Status AlreadyExists(const Kind& kind, const std::string& name);
// "Operation cannot be fulfilled on pods "a": why".
absl::Status Conflict(const Kind& kind, const std::string& name, const std::string& why);
absl::Status Invalid(const Kind& kind, const std::string& name,
                     const std::vector<FieldError>& errors);
absl::Status Forbidden(const Kind& kind, const std::string& name, const std::string& why);
absl::Status BadRequest(const std::string& message);
absl::Status MethodNotAllowed();
absl::Status NoSuchPath();
absl::Status UnsupportedPatch(const Kind& kind);
absl::Status UnsupportedBody(const std::string& why);
absl::Status Expired(const std::string& message);
absl::Status RevisionTooLarge(uint64_t asked, uint64_t current);
absl::Status Unauthorized();
absl::Status TooLarge(size_t limit);
absl::Status TooManyConnections(size_t limit);

// The reason of the Status that goes over the wire: "NotFound".
std::string StatusReason(const absl::Status& status);
std::string StatusBody(const absl::Status& status, int* code);

}  // namespace taas::localkube

#endif  // LOCALKUBE_API_KUBE_STATUS_H_
