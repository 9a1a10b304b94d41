// What an HTTP code of a Kubernetes API means to a program: the one table, for those who ask and
// for the API server that answers.
//
// Ownership: none. Threads: any. Errors: none; every code has a meaning.
//
//   return absl::Status(StatusCodeOfHttp(reply.code, error.reason), text);

#ifndef OPERATOR_BASE_HTTP_STATUS_H_
#define OPERATOR_BASE_HTTP_STATUS_H_

#include <string_view>

#include "absl/status/status.h"

namespace taas {

// `code` is no success; `reason` is that of the metav1.Status, empty if there is none.
//
// 405 and 406 are the same to a caller: the server has no such method, or no such representation,
// and will have none the next time; so neither is tried again. 500, 502 and 504 are Unknown, since
// a write may have been applied before the server gave up.
absl::StatusCode StatusCodeOfHttp(int code, std::string_view reason);

}  // namespace taas

#endif  // OPERATOR_BASE_HTTP_STATUS_H_
