#include "operator/controller/write_answer.h"

#include "absl/strings/match.h"
#include "operator/kube/api_error.h"

namespace taas {
namespace {

// An object that is more than etcd takes, 1.5 MiB by default, or more than the API server sends to
// it: both are a 500, whose words the API server's own rest.go looks for in the same way.
bool TooLargeForEtcd(const HttpReply& reply) {
  return reply.code == 500 &&
         (absl::StrContains(reply.body, "etcdserver: request is too large") ||
          absl::StrContains(reply.body, "trying to send message larger than max"));
}

}  // namespace

using Kind = WriteResult::Kind;

Answer Classify(const absl::StatusOr<HttpReply>& reply) {
  if (!reply.ok()) {
    // Unknown and DeadlineExceeded: the request may have arrived.
    const bool not_sent = reply.status().code() == absl::StatusCode::kUnavailable ||
                          reply.status().code() == absl::StatusCode::kAborted;
    return not_sent ? Answer::kLater : Answer::kUnknown;
  }
  const int code = reply->code;
  if (code >= 200 && code < 300) return Answer::kDone;
  switch (code) {
    case 404:
      return Answer::kMissing;
    case 409:
      return ApiReason(StatusOfReply(*reply, "")) == "AlreadyExists" ? Answer::kExists
                                                                      : Answer::kConflict;
    case 401:
    case 429:
    case 503:
      return Answer::kLater;
    default:
      return code >= 500 && !TooLargeForEtcd(*reply) ? Answer::kUnknown : Answer::kRefused;
  }
}

std::string Cause(const absl::StatusOr<HttpReply>& reply, const std::string& what) {
  const absl::Status status = reply.ok() ? StatusOfReply(*reply, what) : reply.status();
  return reply.ok() ? std::string(status.message()) : what + ": " + std::string(status.message());
}

WriteResult Later(const absl::StatusOr<HttpReply>& reply, const std::string& what) {
  return {.kind = Kind::kLater,
          .message = Cause(reply, what),
          .after = reply.ok() ? reply->retry_after : std::chrono::seconds(0)};
}

WriteResult Refused(const absl::StatusOr<HttpReply>& reply, const std::string& what) {
  return {.kind = Kind::kRefused,
          .message = Cause(reply, what),
          .reason = reply.ok() ? ApiReason(StatusOfReply(*reply, what)) : ""};
}

WriteResult Unreadable(const std::string& what, const absl::Status& why) {
  return {.kind = Kind::kLater, .message = what + ": " + std::string(why.message())};
}

}  // namespace taas
