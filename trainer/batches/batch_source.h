// Which batch a replica trains next, wherever that is decided: by the process itself, by leases of
// the chief, by the parameter servers that make a step.
//
// Ownership: outlives the loop that uses it. Threads: one at a time. Errors: those of who decides.
//
//   ASSIGN_OR_RETURN(const std::optional<int64_t> batch, source.Next());

#ifndef TRAINER_BATCHES_BATCH_SOURCE_H_
#define TRAINER_BATCHES_BATCH_SOURCE_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"

namespace taas {

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // Waits where it has to. Nothing when this source has no more, which need not be the end: whoever
  // made the source knows what is next.
  virtual absl::StatusOr<std::optional<int64_t>> Next() = 0;
};

}  // namespace taas

#endif  // TRAINER_BATCHES_BATCH_SOURCE_H_
