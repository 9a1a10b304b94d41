// Where the model of a job lies while it is trained, as its chief deals with it: given away from a
// cut, looked after, and cut again.
//
// Parameter servers are one (shard_set.h); replicas that hold it themselves would be another.
//
// Threads: one at a time. Errors: Unavailable (a connection broke), Aborted (another generation is
// in force there, or a holder is gone), DataLoss (somebody else answers); others are permanent.
//
//   RETURN_IF_ERROR(holder.Begin({.number = 3, .addresses = addresses}, cut));
//   ASSIGN_OR_RETURN(const ModelHolder::Progress progress, holder.WaitStep(100, 50ms));

#ifndef TRAINER_CHIEF_MODEL_HOLDER_H_
#define TRAINER_CHIEF_MODEL_HOLDER_H_

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/batches/committed_set.h"
#include "trainer/batches/pusher.h"
#include "trainer/cut/snapshot.h"

namespace taas {

class ModelHolder {
 public:
  struct Generation {
    int64_t number = 0;
    std::vector<std::string> addresses;  // Of the holders.
    std::set<Pusher> members;            // Who may push.
  };
  struct Progress {
    int64_t step = 0;
    CommittedSet committed;
    std::vector<Pusher> gone;  // Whose connection has broken, until they come again.
  };

  virtual ~ModelHolder() = default;
  // Gives the holders `cut`, from which they go on; it is only read.
  virtual absl::Status Begin(const Generation& generation, Snapshot& cut) = 0;
  // Connections made anew, the generation as it was. Aborted if that is lost; after another error
  // it may be there yet.
  virtual absl::Status Reconnect() = 0;
  // Until `step` is made, at most for `hold`.
  virtual absl::StatusOr<Progress> WaitStep(int64_t step, std::chrono::milliseconds hold) = 0;
  // From now on these may push, and nobody else.
  virtual absl::Status Name(const std::set<Pusher>& members) = 0;
  // What `pusher` has pushed and is not part of the model will never be.
  virtual absl::StatusOr<Progress> Fence(const Pusher& pusher) = 0;
  // The model as it is now, into `cut`, which has its shape; what nobody holds stays.
  virtual absl::Status ReadCut(Snapshot& cut) = 0;
  // Whoever ends this process does not wait as long as training does.
  virtual void Hurry() = 0;
};

}  // namespace taas

#endif  // TRAINER_CHIEF_MODEL_HOLDER_H_
