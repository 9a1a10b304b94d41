// What the ranks of an epoch begin with: who they are, and from which step they go on.
//
// A rank that leaves an epoch, or comes anew, tells where it stands. The next epoch begins where
// the most advanced of its ranks stands, which gives its model to those who stand elsewhere. Ranks
// that have left one epoch differ by one step at most: a step is made with a part of every rank, so
// nobody makes the next before all have made it.
//
// Where a rank stands names the epoch that made its last step, too: after a step of an epoch all of
// its ranks have the same bits. Those who come from different epochs may have made as many steps of
// as many batches, and yet other ones.
//
// Pure. Ownership: values. Threads: any. Errors: none.
//
//   const std::vector<Epoch> epochs = FormEpoch(4, {{"10.0.0.1:2222", {.step = 17}}, …});

#ifndef TRAINER_RING_EPOCH_H_
#define TRAINER_RING_EPOCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/batches/committed_set.h"

namespace taas {

// Of a model that nobody has given anything yet: it is that of the seed, on every rank.
constexpr int64_t kUntrained = 0;
// Of a rank that has no model: it came while others trained.
constexpr int64_t kNoModel = -1;

struct Standing {
  int64_t step = kNoModel;
  CommittedSet committed;  // The batches that are part of the model.
  uint32_t made_in = 0;  // The epoch of the last step; 0: none, a checkpoint's or the seed's.

  bool operator==(const Standing&) const = default;
};

struct Seat {
  std::string address;
  Standing standing;
};

// As one rank is told.
struct Epoch {
  uint32_t number = 0;
  int rank = 0;
  std::vector<std::string> addresses;  // Of all ranks.
  Standing start;
  // Who has the model of `start`, and who is given it.
  int root = 0;
  std::vector<int> receivers;

  int ranks() const { return static_cast<int>(addresses.size()); }
};

// For each of `seats`, which are at least one, in the order of ranks. Where nobody has a model all
// begin with the seed's.
std::vector<Epoch> FormEpoch(uint32_t number, const std::vector<Seat>& seats);

}  // namespace taas

#endif  // TRAINER_RING_EPOCH_H_
