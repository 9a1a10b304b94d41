// One device of this process among those of others: the mean of what each of them has, made between
// their memories. The devices of one process are collective.h's.
//
// A group is formed anew for each set of ranks, by an id that one of them has drawn. Nothing here
// waits: whoever does looks again, and gives up when its patience ends or it learns that a rank is
// gone, of which a group by itself may learn nothing. After an error, and after Abort, the group is
// of no use; another one can be formed once Ended says that nothing of it is under way.
//
// Ownership: borrows the device. Threads: one at a time. Errors: of what it sums by; a device's own
// are the machine's fault (machine_fault.h).
//
//   ASSIGN_OR_RETURN(const std::string id, group.DrawId());      // Rank 0, for all.
//   RETURN_IF_ERROR(group.Form({.rank = 1, .ranks = 3, .id = id}));
//   while (stage == Stage::kForms) { ASSIGN_OR_RETURN(stage, group.Look()); … }
//   RETURN_IF_ERROR(group.Launch(gradients, /*narrow=*/false));  // Look until it is kReady again.

#ifndef TRAINER_GRAPH_DEVICE_GROUP_H_
#define TRAINER_GRAPH_DEVICE_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/clock.h"
#include "trainer/graph/tensor_ref.h"

namespace taas {

class DeviceGroup {
 public:
  // Of an id.
  static constexpr size_t kIdBytesMax = 128;

  // In the order in which it goes through them.
  enum class Stage : uint8_t {
    kForms,   // Not all ranks are there.
    kReady,   // For a mean: none is under way.
    kBegun,   // The device has not come to the mean.
    kWaits,   // It has: for the others, or for the end.
  };
  struct Ranks {
    int rank = 0, ranks = 1;
    std::string id;
  };

  virtual ~DeviceGroup() = default;
  // What sums, with its version: "NCCL 2.28.9". Ranks of another cannot be of one group.
  virtual std::string name() const = 0;
  // For one group. Whoever has it can become a rank of it.
  virtual absl::StatusOr<std::string> DrawId() = 0;
  virtual absl::Status Form(const Ranks& ranks) = 0;
  // `values`, in memory of the device, become their mean over all ranks, the same bits on each. All
  // launch the same. narrow: they go in bfloat16, and are rounded to it.
  virtual absl::Status Launch(const TensorRef& values, bool narrow) = 0;
  virtual absl::StatusOr<Stage> Look() = 0;
  // What is under way ends soon, in whatever state; returns at once.
  virtual void Abort() = 0;
  // After Abort: whether all of it has ended. It waits no longer than that takes or `patience`.
  virtual bool Ended(Clock::Duration patience) = 0;
};

}  // namespace taas

#endif  // TRAINER_GRAPH_DEVICE_GROUP_H_
