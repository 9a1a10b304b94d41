// Which errors of a checkpoint directory end a training, and which only cost checkpoints.
//
// Ownership: none. Threads: any. Errors: none.
//
//   if (MayPass(saved)) Log(LogLevel::kError, …);  // And save again later.

#ifndef TRAINER_STRATEGY_DISK_ERRORS_H_
#define TRAINER_STRATEGY_DISK_ERRORS_H_

#include <chrono>

#include "absl/status/status.h"

namespace taas {

// After a save that failed because of the disk.
constexpr std::chrono::seconds kDiskRetry{5};

// A disk that does not answer, that is full or has no descriptor left, a directory that is not
// mounted at the moment: each may be well again a moment later, without this process.
inline bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsResourceExhausted(status) ||
         absl::IsNotFound(status);
}

}  // namespace taas

#endif  // TRAINER_STRATEGY_DISK_ERRORS_H_
