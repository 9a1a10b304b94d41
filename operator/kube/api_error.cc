#include "operator/kube/api_error.h"

#include <charconv>
#include <optional>

#include "absl/strings/cord.h"
#include "operator/api/kube_protobuf.h"
#include "operator/base/http_status.h"
#include "operator/base/protobuf_slice.h"
#include "operator/base/status.h"
#include "operator/base/utf8.h"
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
      ASSIGN_OR_RETURN((key == "reason" ? error->reason : error->message), StringOf(value));
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

absl::Status ReadProtobufStatus(std::string_view body, ApiError* error) {
  constexpr int kMessage = 3, kReason = 4, kDetails = 5, kCode = 6;
  constexpr int kDetailsRetryAfterSeconds = 5;
  ASSIGN_OR_RETURN(const std::string_view status, UnwrapKubeProtobuf(body));
  return ForEachField(status, [error](const ProtobufField& field) {
    if (field.number == kMessage) error->message = WithValidUtf8(field.bytes);
    if (field.number == kReason) error->reason = WithValidUtf8(field.bytes);
    const auto code = static_cast<int32_t>(field.varint);
    if (field.number == kCode && code > 0) error->code = code;
    if (field.number != kDetails) return absl::OkStatus();
    return ForEachField(field.bytes, [error](const ProtobufField& inner) {
      if (inner.number == kDetailsRetryAfterSeconds) {
        error->retry_after = std::chrono::seconds(static_cast<int32_t>(inner.varint));
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace

ApiError ParseApiError(std::string_view body, int http_code) {
  ApiError error{.code = http_code};
  const absl::Status read =
      IsKubeProtobuf(body) ? ReadProtobufStatus(body, &error) : ReadStatusObject(body, &error);
  if (!read.ok() || (error.reason.empty() && error.message.empty())) {
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
