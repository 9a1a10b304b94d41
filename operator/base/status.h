// Early return on absl::Status, and messages that grow a prefix on their way up.
//
// Ownership: values. Threads: any. Errors: these macros carry errors, they make none.
//
//   absl::Status Load() {
//     ASSIGN_OR_RETURN(std::string text, files.Read(path));
//     RETURN_IF_ERROR(Parse(text)).With("load " + path);
//     return absl::OkStatus();
//   }

#ifndef OPERATOR_BASE_STATUS_H_
#define OPERATOR_BASE_STATUS_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taas {

// The same code and payloads, with "prefix: " before the message.
inline absl::Status Annotate(const absl::Status& status, std::string_view prefix) {
  if (status.ok()) return status;
  absl::Status out(status.code(), std::string(prefix) + ": " + std::string(status.message()));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { out.SetPayload(url, payload); });
  return out;
}

// What RETURN_IF_ERROR returns: converts to Status and to any StatusOr.
class StatusToReturn {
 public:
  explicit StatusToReturn(absl::Status status) : status_(std::move(status)) {}
  StatusToReturn With(std::string_view prefix) && {
    return StatusToReturn(Annotate(status_, prefix));
  }
  operator absl::Status() && { return std::move(status_); }
  template <typename T>
  operator absl::StatusOr<T>() && {
    return std::move(status_);
  }

 private:
  absl::Status status_;
};

}  // namespace taas

#define TAAS_CONCAT_INNER(a, b) a##b
#define TAAS_CONCAT(a, b) TAAS_CONCAT_INNER(a, b)

// Returns from the enclosing function when `expr` is an error. `.With("prefix")` may follow.
#define RETURN_IF_ERROR(expr)                              \
  if (absl::Status taas_status_ = (expr); taas_status_.ok()) { \
  } else                                                   \
    return ::taas::StatusToReturn(std::move(taas_status_))

// Declares or assigns `lhs` from a StatusOr, or returns its error.
#define ASSIGN_OR_RETURN(lhs, expr) \
  TAAS_ASSIGN_OR_RETURN(TAAS_CONCAT(taas_or_, __LINE__), lhs, expr)
#define TAAS_ASSIGN_OR_RETURN(tmp, lhs, expr)                                    \
  auto tmp = (expr);                                                             \
  if (!tmp.ok()) return ::taas::StatusToReturn(std::move(tmp).status()); \
  lhs = *std::move(tmp)

#endif  // OPERATOR_BASE_STATUS_H_
