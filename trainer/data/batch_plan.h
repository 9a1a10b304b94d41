// Which examples make up batch number b, for every b, on every machine, without anyone telling.
//
// Batch b covers positions [b·B, (b+1)·B) of an endless stream of epochs; each epoch is its own
// seeded permutation of all examples. So whoever trains which batches, every example is used
// exactly once per epoch as long as every batch number is trained once; a batch may straddle two
// epochs.
//
// The permutation is a Feistel network with cycle walking: no table, so nothing to compute when an
// epoch begins and nothing to keep for data sets of any size.
//
// Ownership: value type. Threads: const methods from any thread. Errors: none; the options are
// checked.
//
//   const BatchPlan plan({.seed = 1, .examples = set.examples(), .batch_size = 100});
//   plan.Indices(batch, indices);

#ifndef TRAINER_DATA_BATCH_PLAN_H_
#define TRAINER_DATA_BATCH_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace taas {

class BatchPlan {
 public:
  struct Options {
    uint64_t seed = 0;
    int64_t examples = 0;    // At least 1.
    int64_t batch_size = 0;  // At least 1; may exceed `examples`.
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

 private:
  // Four rounds of a good round function already pass for random; two more cost nothing here.
  static constexpr size_t kRounds = 6;
  using EpochKeys = std::array<uint64_t, kRounds>;

  EpochKeys KeysOf(int64_t epoch) const;
  int64_t Permute(const EpochKeys& keys, uint64_t position) const;

  Options options_;
  int left_bits_ = 0;
  int right_bits_ = 0;
};

}  // namespace taas

#endif  // TRAINER_DATA_BATCH_PLAN_H_
