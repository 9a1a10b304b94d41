#include "localkube/api/kube_status.h"

#include <cstdint>
#include <utility>

#include "operator/base/http_status.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;

// Where an absl::Status carries the metav1.Status.
constexpr char kPayload[] = "taas.dev/metav1.Status";

json Body(int code, const std::string& reason, const std::string& message, json details) {
  json body = {{"apiVersion", "v1"}, {"kind", "Status"},    {"metadata", json::object()},
               {"status", "Failure"}, {"message", message}, {"reason", reason},
               {"code", code}};
  if (!details.empty()) body["details"] = std::move(details);
  return body;
}

absl::Status Make(int code, const std::string& reason, const std::string& message,
                  json details = json::object()) {
  absl::Status status(StatusCodeOfHttp(code, reason), message);
  status.SetPayload(
      kPayload, absl::Cord(Body(code, reason, message, std::move(details))
                               .dump(-1, ' ', false, json::error_handler_t::replace)));
  return status;
}

json Details(const Kind& kind, const std::string& name) {
  json details = json::object();
  if (!name.empty()) details["name"] = name;
  if (!kind.plural.empty()) details["kind"] = kind.plural;
  if (!kind.group.empty()) details["group"] = kind.group;
  return details;
}

std::string Quoted(const Kind& kind, const std::string& name) {
  return kind.resource() + " \"" + name + "\"";
}

}  // namespace

absl::Status NotFound(const Kind& kind, const std::string& name) {
  return Make(404, "NotFound", Quoted(kind, name) + " not found", Details(kind, name));
}

absl::Status AlreadyExists(const Kind& kind, const std::string& name) {
  return Make(409, "AlreadyExists", Quoted(kind, name) + " already exists", Details(kind, name));
}

absl::Status Conflict(const Kind& kind, const std::string& name, const std::string& why) {
  return Make(409, "Conflict",
              "Operation cannot be fulfilled on " + Quoted(kind, name) + ": " + why,
              Details(kind, name));
}

absl::Status Invalid(const Kind& kind, const std::string& name,
                     const std::vector<FieldError>& errors) {
  std::string message = kind.kind + (kind.group.empty() ? "" : "." + kind.group) + " \"" + name +
                        "\" is invalid: ";
  json causes = json::array();
  std::string list;
  for (const FieldError& error : errors) {
    list += (list.empty() ? "" : ", ") + FormatFieldError(error);
    causes.push_back(
        {{"reason", error.reason}, {"message", error.message}, {"field", error.path}});
  }
  message += errors.size() > 1 ? "[" + list + "]" : list;
  json details = Details(kind, name);
  if (!kind.kind.empty()) details["kind"] = kind.kind;
  details["causes"] = std::move(causes);
  return Make(422, "Invalid", message, std::move(details));
}

absl::Status Forbidden(const Kind& kind, const std::string& name, const std::string& why) {
  return Make(403, "Forbidden", Quoted(kind, name) + " is forbidden: " + why,
              Details(kind, name));
}

absl::Status BadRequest(const std::string& message) { return Make(400, "BadRequest", message); }

absl::Status MethodNotAllowed() {
  return Make(405, "MethodNotAllowed",
              "the server does not allow this method on the requested resource");
}

absl::Status NoSuchPath() {
  return Make(404, "NotFound", "the server could not find the requested resource");
}

absl::Status UnsupportedPatch(const Kind& kind) {
  return Make(415, "UnsupportedMediaType",
              std::string("the body of the request was in an unknown format - accepted media "
                          "types include: application/json-patch+json, "
                          "application/merge-patch+json") +
                  (kind.custom ? "" : ", application/strategic-merge-patch+json"));
}

absl::Status UnsupportedBody(const std::string& why) {
  return Make(415, "UnsupportedMediaType", why);
}

absl::Status Expired(const std::string& message) { return Make(410, "Expired", message); }

absl::Status RevisionTooLarge(uint64_t asked, uint64_t current) {
  const json cause = {{"reason", "ResourceVersionTooLarge"},
                      {"message", "Too large resource version"}};
  return Make(504, "Timeout",
              "Timeout: Too large resource version: " + std::to_string(asked) +
                  ", current: " + std::to_string(current),
              {{"causes", json::array({cause})}, {"retryAfterSeconds", 1}});
}

absl::Status Unauthorized() { return Make(401, "Unauthorized", "Unauthorized"); }

absl::Status TooLarge(size_t limit) {
  return Make(413, "RequestEntityTooLarge",
              "Request entity too large: limit is " + std::to_string(limit));
}

absl::Status TooManyConnections(size_t limit) {
  return Make(429, "TooManyRequests",
              "the API server has all of its " + std::to_string(limit) +
                  " connections in use; close some of them, or try again later",
              {{"retryAfterSeconds", 1}});
}

std::string StatusReason(const absl::Status& status) {
  int code = 0;
  return json::parse(StatusBody(status, &code)).value("reason", "");
}

std::string StatusBody(const absl::Status& status, int* code) {
  if (const auto payload = status.GetPayload(kPayload); payload.has_value()) {
    std::string text(*payload);
    *code = json::parse(text)["code"].get<int>();
    return text;
  }
  *code = 500;
  return Body(500, "InternalError", "Internal error occurred: " + std::string(status.message()),
              json::object())
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace taas::localkube
