// What a replica pushes of variables that are moved, not trained: the moving moments of batch
// normalization.
//
// A step of the graph leaves decay * moment + (1 - decay) * batch in them. Begun at zero, that is
// what the batch adds, which goes to the parameter servers beside the gradients: each moves what it
// holds (piece_update.h), so that the moments follow the batches of all replicas, each once and
// however old its values were.
//
// Ownership: owns the parts; borrows the session for each call. Threads: one at a time. Errors:
// those of the device's memory.
//
//   RETURN_IF_ERROR(moved.Begin(session));
//   RETURN_IF_ERROR(session.Run(RunKind::kTrain));
//   RETURN_IF_ERROR(moved.End(session));  // The spans of AddTo hold what the batch adds.

#ifndef TRAINER_REPLICA_MOVED_VARIABLES_H_
#define TRAINER_REPLICA_MOVED_VARIABLES_H_

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "trainer/graph/session.h"

namespace taas {

class MovedVariables {
 public:
  explicit MovedVariables(const Session& session);

  // `gradients`, in the session's order, with the parts of what is moved in their places.
  std::vector<std::span<float>> AddTo(std::vector<std::span<float>> gradients);
  // Before and after a step.
  absl::Status Begin(Session& session) const;
  absl::Status End(Session& session);

 private:
  struct Part {
    size_t variable;
    std::vector<float> values;
  };
  std::vector<Part> parts_;
};

}  // namespace taas

#endif  // TRAINER_REPLICA_MOVED_VARIABLES_H_
