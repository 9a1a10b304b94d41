// Answers that are no 2xx: one JSON form for all of them, `Problem` of dashboard/web.
//
// Ownership: values. Threads: any. Errors: none.
//
//   respond(ProblemResponse(404, "NotFound", "get job ns/mnist: there is none"));

#ifndef DASHBOARD_HTTP_PROBLEM_H_
#define DASHBOARD_HTTP_PROBLEM_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "dashboard/http/web_message.h"
#include "operator/kube/transport.h"

namespace taas::dashboard {

WebResponse ProblemResponse(int code, std::string_view reason, std::string_view message);
// Of what failed on the way to an API server, or was refused by it (operator/kube/api_error.h).
WebResponse ProblemResponse(const absl::Status& status);
// Of an API server's answer, with the fields that it names. `what` says what was attempted.
WebResponse ProblemResponse(const HttpReply& reply, std::string_view what);

}  // namespace taas::dashboard

#endif  // DASHBOARD_HTTP_PROBLEM_H_
