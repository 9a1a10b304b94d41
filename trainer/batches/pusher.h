// One life of one training replica: whose gradients these are, and to whom a batch is lent.
//
// Ownership: value type. Threads: any. Errors: none.
//
//   const Pusher me{.rank = 2, .pod = 1, .start = drawn};

#ifndef TRAINER_BATCHES_PUSHER_H_
#define TRAINER_BATCHES_PUSHER_H_

#include <compare>
#include <cstdint>

namespace taas {

struct Pusher {
  uint32_t rank = 0;
  uint32_t pod = 0;
  uint64_t start = 0;

  auto operator<=>(const Pusher&) const = default;
};

}  // namespace taas

#endif  // TRAINER_BATCHES_PUSHER_H_
