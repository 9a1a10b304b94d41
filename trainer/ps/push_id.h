// Which gradient of whom a push is.
//
// Ownership: value types. Threads: any. Errors: none.
//
//   const PushId push{.pusher = me, .sequence = 7, .batch = 12};

#ifndef TRAINER_PS_PUSH_ID_H_
#define TRAINER_PS_PUSH_ID_H_

#include <compare>
#include <cstdint>

#include "trainer/batches/pusher.h"

namespace taas::ps {

struct PushId {
  Pusher pusher;
  uint64_t sequence = 0;  // From 1; a repeated push has the same.
  int64_t batch = 0;

  auto operator<=>(const PushId&) const = default;
};

// A push that a shard holds until it is decided.
struct StagedPush {
  PushId push;
  int64_t base = 0;  // The step at whose values the gradient was computed.

  bool operator==(const StagedPush&) const = default;
};

}  // namespace taas::ps

#endif  // TRAINER_PS_PUSH_ID_H_
