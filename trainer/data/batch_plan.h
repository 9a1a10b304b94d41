// Which examples make up batch number b, for every b, on every machine, without anyone telling.
//
// Batch b covers positions [b·B, (b+1)·B) of an endless stream of epochs; each epoch is its own
// seeded permutation of all examples. So whoever trains which batches, every example is used
// exactly once per epoch as long as every batch number is trained once; a batch may straddle two
// epochs.
//
// Data that is larger than memory is shuffled in two steps, so that few of its examples are needed
// at a time. Examples that follow each other in the files are a block. Each epoch permutes the
// blocks, takes them in groups, and permutes the examples of a group: that is a window. It is what
// the buffer of TensorFlow's shuffle() is, behind an interleaving of files, but needs no state.
//
// The last block, which may be short, has a place of its own in each epoch: so what is at a place
// is found by a division.
//
// Ownership: value type. Threads: const methods from any thread. Errors: none; the options are
// checked.
//
//   const BatchPlan plan({.seed = 1, .examples = set.examples(), .batch_size = 100});
//   plan.Indices(batch, indices);

#ifndef TRAINER_DATA_BATCH_PLAN_H_
#define TRAINER_DATA_BATCH_PLAN_H_

#include <cstdint>
#include <span>
#include <vector>

#include "trainer/data/permutation.h"

namespace taas {

class BatchPlan {
 public:
  // How data is shuffled of which only a part is in memory.
  struct Blocks {
    int64_t examples = 0;    // Of each but the last. 0: there are no blocks, and one window.
    int64_t per_window = 0;  // At most; at least 1.

    bool operator==(const Blocks&) const = default;
  };
  struct Options {
    uint64_t seed = 0;
    int64_t examples = 0;    // At least 1.
    int64_t batch_size = 0;  // At least 1; may exceed `examples`.
    Blocks blocks = {};
  };
  explicit BatchPlan(Options options);

  int64_t batch_size() const { return options_.batch_size; }
  // `out` has batch_size() elements; `batch` counts from 0.
  void Indices(int64_t batch, std::span<int64_t> out) const;
  // The example at `position` (counted from 0) of the stream of epochs.
  int64_t IndexAt(int64_t position) const;
  int64_t EpochAt(int64_t position) const { return position / options_.examples; }
  // The epoch in which batch `batch` begins.
  int64_t EpochOf(int64_t batch) const;

  // Windows are counted over all epochs; each epoch begins with one.
  int64_t WindowAt(int64_t position) const;
  // Of a plan with blocks: those of `window`, each example of which is in one of them.
  std::vector<int64_t> BlocksOf(int64_t window) const;

 private:
  // Where the blocks stand in one epoch. A slot is a block's place.
  struct Order {
    int64_t epoch;
    uint64_t key;
    int64_t last_slot;        // Of the last block.
    Permutation other_blocks;  // All but the last.
  };
  // Positions [begin, end) of the stream, and their order.
  struct Window {
    Order order;
    int64_t begin;
    int64_t end;
    Permutation within;
  };

  int64_t blocks() const;
  int64_t windows_per_epoch() const;
  int64_t last_block_examples() const;
  Order OrderOf(int64_t epoch) const;
  // How many examples of the epoch come before the slot.
  int64_t StartOf(const Order& order, int64_t slot) const;
  int64_t SlotAt(const Order& order, int64_t place) const;
  int64_t BlockIn(const Order& order, int64_t slot) const;
  // The window that `position` is in.
  Window MakeWindow(int64_t position) const;
  int64_t IndexIn(const Window& window, int64_t position) const;

  Options options_;
};

}  // namespace taas

#endif  // TRAINER_DATA_BATCH_PLAN_H_
