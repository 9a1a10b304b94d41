// A request of somebody whom the API server knows.
//
// Ownership: values. Threads: the executor's. Errors: none.

#ifndef DASHBOARD_SERVER_API_CALL_H_
#define DASHBOARD_SERVER_API_CALL_H_

#include <string>

#include "dashboard/server/identity.h"
#include "dashboard/http/web_message.h"

namespace taas::dashboard {

struct ApiCall {
  WebRequest request;
  WebRespond respond;
  IdentityPtr identity;
  std::string token;  // With which whatever is done for this caller is done.

  // A part of the path behind "api"; empty: there are fewer.
  std::string_view Part(size_t index) const {
    return index + 1 < request.segments.size() ? std::string_view(request.segments[index + 1])
                                               : std::string_view();
  }
  size_t parts() const { return request.segments.empty() ? 0 : request.segments.size() - 1; }
};

WebResponse JsonResponse(std::string body, int code = 200);

}  // namespace taas::dashboard

#endif  // DASHBOARD_SERVER_API_CALL_H_
