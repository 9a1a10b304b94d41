// Standings and epochs as they go between a rank and the chief (trainer/proto/chief.proto).
//
// Pure. Ownership: values. Threads: any. Errors: InvalidArgument for numbers that cannot be, as who
// is not the chief could send them.

#ifndef TRAINER_RING_RING_WIRE_H_
#define TRAINER_RING_RING_WIRE_H_

#include "absl/status/statusor.h"
#include "trainer/proto/chief.pb.h"
#include "trainer/ring/epoch.h"

namespace taas {

// Batches above the first that is missing. A ring leaves no gaps; a checkpoint of many replicas has
// as many as these had under way.
constexpr int kCommittedAboveMax = 100'000;

wire::RingStanding ToWire(const Standing& standing);
absl::StatusOr<Standing> FromWire(const wire::RingStanding& standing);
wire::RingEpoch ToWire(const Epoch& epoch);
absl::StatusOr<Epoch> FromWire(const wire::RingEpoch& epoch);

}  // namespace taas

#endif  // TRAINER_RING_RING_WIRE_H_
