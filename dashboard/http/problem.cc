#include "dashboard/http/problem.h"

#include "operator/api/json_field.h"
#include "operator/kube/api_error.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

using Json = nlohmann::json;

struct Problem {
  int code;
  std::string_view reason;
};

Problem OfHttpCode(int code) {
  switch (code) {
    case 400:
    case 415:
      return {400, "BadRequest"};
    case 401:
      return {401, "Unauthenticated"};
    case 403:
      return {403, "Forbidden"};
    case 404:
      return {404, "NotFound"};
    case 409:
      return {409, "Conflict"};
    case 413:
      return {413, "TooLarge"};
    case 422:
      return {422, "Invalid"};
    case 429:
      return {429, "TooManyRequests"};
    default:
      return {502, "Unavailable"};
  }
}

Problem OfStatus(const absl::Status& status) {
  if (const int code = ApiCode(status); code != 0) return OfHttpCode(code);
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return {400, "BadRequest"};
    case absl::StatusCode::kUnauthenticated:
      return {401, "Unauthenticated"};
    case absl::StatusCode::kPermissionDenied:
      return {403, "Forbidden"};
    case absl::StatusCode::kNotFound:
      return {404, "NotFound"};
    case absl::StatusCode::kResourceExhausted:
      return {429, "TooManyRequests"};
    case absl::StatusCode::kInternal:
      return {500, "Internal"};
    default:
      return {502, "Unavailable"};
  }
}

WebResponse Make(int code, Json error) {
  WebResponse response{.code = code};
  response.body = Shared(DumpJson({{"error", std::move(error)}}));
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

}  // namespace

WebResponse ProblemResponse(int code, std::string_view reason, std::string_view message) {
  return Make(code, {{"reason", reason}, {"message", message}});
}

WebResponse ProblemResponse(const absl::Status& status) {
  const Problem problem = OfStatus(status);
  return ProblemResponse(problem.code, problem.reason, std::string(status.message()));
}

WebResponse ProblemResponse(const HttpReply& reply, std::string_view what) {
  const ApiError api_error = ParseApiError(reply.body, reply.code);
  const Problem problem = OfHttpCode(reply.code);
  Json error = {{"reason", problem.reason}, {"message", std::string(what) + ": " +
                                                            api_error.message}};
  const Json body = Json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
  const auto causes = "/details/causes"_json_pointer;
  if (body.is_object() && body.contains(causes) && body[causes].is_array()) {
    for (const Json& cause : body[causes]) {
      if (!cause.is_object()) continue;
      error["causes"].push_back(
          {{"field", TextOf(cause, "field")}, {"message", TextOf(cause, "message")}});
    }
  }
  return Make(problem.code, std::move(error));
}

}  // namespace taas::dashboard
