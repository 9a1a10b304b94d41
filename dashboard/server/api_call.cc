#include "dashboard/server/api_call.h"

#include <utility>

namespace taas::dashboard {

WebResponse JsonResponse(std::string body, int code) {
  WebResponse response{.code = code, .body = Shared(std::move(body))};
  // What one user may see is nobody else's, and is old at once.
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

}  // namespace taas::dashboard
