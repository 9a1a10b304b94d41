#include "localkube/node/api_calls.h"

#include "third_party/json.h"

namespace taas::localkube {

absl::StatusOr<std::string> ApiCalls::Call(const char* method, const std::string& path,
                                           const std::string& body) {
  ApiResponse reply = api_.Handle({.method = method, .target = path, .body = body});
  for (const auto& [name, value] : reply.headers) {
    if (on_warning_ != nullptr && name == "Warning") on_warning_(value);
  }
  if (reply.code < 300) return std::move(reply.body);
  std::string message = "HTTP " + std::to_string(reply.code);
  const auto status = nlohmann::json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
  if (status.is_object() && status.contains("message") && status["message"].is_string()) {
    message = status["message"].get<std::string>();
  }
  message = std::string(method) + " " + path + ": " + message;
  switch (reply.code) {
    case 404: return absl::NotFoundError(message);
    case 409: return absl::AbortedError(message);
    case 400:
    case 422: return absl::InvalidArgumentError(message);
    default: return absl::UnavailableError(message);
  }
}

absl::StatusOr<std::string> ApiCalls::Get(const std::string& path) { return Call("GET", path, ""); }

absl::StatusOr<std::string> ApiCalls::Post(const std::string& path, const std::string& body) {
  return Call("POST", path, body);
}

absl::StatusOr<std::string> ApiCalls::Put(const std::string& path, const std::string& body) {
  return Call("PUT", path, body);
}

absl::StatusOr<std::string> ApiCalls::Patch(const std::string& path, const std::string& body) {
  return Call("PATCH", path, body);
}

absl::StatusOr<std::string> ApiCalls::Delete(const std::string& path, const std::string& body) {
  return Call("DELETE", path, body);
}

std::string PodPath(const std::string& ns, const std::string& name) {
  return "/api/v1/namespaces/" + ns + "/pods/" + name;
}

}  // namespace taas::localkube
