// What `taas` exits with.
//
// Ownership: none. Threads: any. Errors: none.
//
//   return ExitCodeOf(status);

#ifndef CLI_EXIT_CODE_H_
#define CLI_EXIT_CODE_H_

#include "absl/status/status.h"

namespace taas {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNotFound = 3;
inline constexpr int kExitTimedOut = 4;

inline int ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return kExitOk;
  if (absl::IsNotFound(status)) return kExitNotFound;
  if (absl::IsDeadlineExceeded(status)) return kExitTimedOut;
  return kExitFailed;
}

}  // namespace taas

#endif  // CLI_EXIT_CODE_H_
