// Where a rank learns of the epochs that it is part of: the chief's own (ring_desk.h) and every
// other rank's, which asks the chief (trainer/replica/member.h).
//
// Threads: Next from one. Errors of Next end the rank: Cancelled (told to stop), FailedPrecondition
// (replaced), the chief's own failure.
//
//   while (true) {
//     ASSIGN_OR_RETURN(const auto epoch, source.Next(standing, lost));
//     if (!epoch) return absl::OkStatus();

#ifndef TRAINER_RING_EPOCH_SOURCE_H_
#define TRAINER_RING_EPOCH_SOURCE_H_

#include <optional>

#include "absl/status/statusor.h"
#include "trainer/ring/epoch.h"

namespace taas {

class EpochSource {
 public:
  virtual ~EpochSource() = default;
  // Tells where this rank stands, which is in no epoch any more, and whose link broke in the last
  // if that ended it; waits for the next that it is part of. Nothing once the job is done.
  virtual absl::StatusOr<std::optional<Epoch>> Next(const Standing& standing,
                                                    std::optional<int> lost) = 0;
  // All steps are made: waits, still in the epoch, until the job is done or the epoch is over.
  virtual void Outlast() = 0;
};

}  // namespace taas

#endif  // TRAINER_RING_EPOCH_SOURCE_H_
