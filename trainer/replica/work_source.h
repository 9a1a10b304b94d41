// Where a training replica gets its batch numbers and the addresses of its parameter servers.
//
// Two kinds: the chief's own (front_desk.h) and that of every other replica, which asks the chief
// (member.h).
//
// Ownership: outlives the loop that uses it. Threads: Next from one, StillCurrent from any. Errors
// of Next end the replica: Cancelled (told to stop), FailedPrecondition (replaced), Unavailable
// (the chief is gone for good).
//
//   ASSIGN_OR_RETURN(Work work, source.Next());
//   if (work.done) return absl::OkStatus();

#ifndef TRAINER_REPLICA_WORK_SOURCE_H_
#define TRAINER_REPLICA_WORK_SOURCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer/batches/pusher.h"

namespace taas {

struct Work {
  bool done = false;  // All is trained.
  int64_t generation = 0;
  std::vector<std::string> shards;
  Pusher pusher;  // Who the replica is in this generation.
  std::string job;  // As the parameter servers know it.
  // The parameter servers hand batches out, for as long as the generation stands; else `batches`.
  bool from_shards = false;
  std::vector<int64_t> batches;
};

class WorkSource {
 public:
  virtual ~WorkSource() = default;
  // Waits until there is work or the end.
  virtual absl::StatusOr<Work> Next() = 0;
  // Whether `generation` is in force and this replica still the one it was.
  virtual bool StillCurrent(int64_t generation, const Pusher& pusher) = 0;
};

}  // namespace taas

#endif  // TRAINER_REPLICA_WORK_SOURCE_H_
