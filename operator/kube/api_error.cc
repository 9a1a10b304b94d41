#include "operator/kube/api_error.h"

#include <charconv>
#include <optional>

#include "absl/strings/cord.h"
#include "operator/base/http_status.h"
#include "operator/kube/json_slice.h"

namespace taas {
namespace {

constexpr char kCodeUrl[] = "taas.dev/api-code";
constexpr char kReasonUrl[] = "taas.dev/api-reason";
constexpr char kRetryUrl[] = "taas.dev/api-retry-after-s";

// A body that is no metav1.Status is often a proxy's page of HTML; its first line tells whose.
constexpr size_t kForeignBodyBytesMax = 200;

int64_t NumberOf(std::string_view text) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string PayloadOf(const absl::Status& status, const char* url) {
  const absl::optional<absl::Cord> payload = status.GetPayload(url);
  return payload.has_value() ? std::string(*payload) : "";
}

absl::Status ReadStatusObject(std::string_view body, ApiError* error) {
  return ForEachMember(body, [&](std::string_view key, std::string_view value) -> absl::Status {
    if (key == "code") {
      if (const int64_t code = NumberOf(value); code > 0) error->code = static_cast<int>(code);
    } else if (key == "reason" || key == "message") {
      const absl::StatusOr<std::string> text = StringOf(value);
      if (!text.ok()) return text.status();
      (key == "reason" ? error->reason : error->message) = *text;
    } else if (key == "details" && value != "null") {
      return ForEachMember(value, [&](std::string_view inner, std::string_view seconds) {
        if (inner == "retryAfterSeconds") {
          error->retry_after = std::chrono::seconds(NumberOf(seconds));
        }
        return absl::OkStatus();
      });
    }
    return absl::OkStatus();
  });
}

}  // namespace

ApiError ParseApiError(std::string_view body, int http_code) {
  ApiError error{.code = http_code};
  if (!ReadStatusObject(body, &error).ok() || (error.reason.empty() && error.message.empty())) {
    const std::string_view line = body.substr(0, body.find('\n'));
    error = ApiError{.code = http_code,
                     .message = std::string(line.substr(0, kForeignBodyBytesMax))};
  }
  return error;
}

absl::Status StatusOfReply(const HttpReply& reply, std::string_view what) {
  if (reply.code >= 200 && reply.code < 300) return absl::OkStatus();
  ApiError error = ParseApiError(reply.body, reply.code);
  if (reply.retry_after.count() > 0) error.retry_after = reply.retry_after;
  return StatusOfApiError(error, what);
}

absl::Status StatusOfApiError(const ApiError& error, std::string_view what) {
  std::string text = std::string(what) + ": " + std::to_string(error.code);
  if (!error.reason.empty()) text += " " + error.reason;
  if (!error.message.empty()) text += ": " + error.message;
  absl::Status status(StatusCodeOfHttp(error.code, error.reason), text);
  status.SetPayload(kCodeUrl, absl::Cord(std::to_string(error.code)));
  if (!error.reason.empty()) status.SetPayload(kReasonUrl, absl::Cord(error.reason));
  if (error.retry_after.count() > 0) {
    status.SetPayload(kRetryUrl, absl::Cord(std::to_string(error.retry_after.count())));
  }
  return status;
}

std::string ApiReason(const absl::Status& status) { return PayloadOf(status, kReasonUrl); }

int ApiCode(const absl::Status& status) {
  return static_cast<int>(NumberOf(PayloadOf(status, kCodeUrl)));
}

std::chrono::seconds ApiRetryAfter(const absl::Status& status) {
  return std::chrono::seconds(NumberOf(PayloadOf(status, kRetryUrl)));
}

}  // namespace taas
