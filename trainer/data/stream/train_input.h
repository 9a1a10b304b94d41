// The batches of a training: which examples they are, gathered from memory or from a stream,
// augmented, and made ahead where that pays.
//
// Ownership: borrows the data, which outlives it; owns its threads. Threads: Fill from any, of
// different batches at the same time. Errors of Fill: those of a stream, naming file and record.
//
//   TrainInput input(data, {.seed = 1, .batch_size = 100});
//   RETURN_IF_ERROR(input.Fill(batch, InputsOf(model, session)));

#ifndef TRAINER_DATA_STREAM_TRAIN_INPUT_H_
#define TRAINER_DATA_STREAM_TRAIN_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/data/batch_plan.h"
#include "trainer/data/load_data.h"
#include "trainer/data/stream/batch_prefetch.h"
#include "trainer/data/stream/streamed_set.h"

namespace taas {

class TrainInput {
 public:
  struct Options {
    uint64_t seed = 0;
    int64_t batch_size = 0;
    int64_t towers = 1;  // Batches that are taken together.
    // Of batches that are lent (BatchPrefetch::Options::memory): so many are made ahead as are not
    // lent, which kLentMax are at most. Empty: none is lent.
    std::vector<BatchRows> memory{};
  };
  // Of a step that is under way, and of the next.
  static constexpr size_t kLentMax = 2;

  // Of a batch.
  static BatchPrefetch::Sizes SizesOf(const DataSets& data, int64_t batch_size);
  // Batches that are to be made ahead where they are lent: of a stream as its options say.
  static int64_t AheadOf(const DataSets& data);

  TrainInput(const DataSets& data, const Options& options);

  // `rows` has room for what batch_size examples have: features, pixels (and seeds if they are to
  // be augmented) or ids, and labels or targets.
  absl::Status Fill(int64_t batch, const BatchRows& rows);
  // Where there is memory for that: the batch where it was made, until it is given back.
  bool lends() const { return lends_; }
  absl::StatusOr<BatchPrefetch::Lent> Lend(int64_t batch) { return prefetch_->Lend(batch); }
  void GiveBack(const BatchPrefetch::Lent& lent) { prefetch_->GiveBack(lent.slot); }

  const BatchPlan& plan() const { return plan_; }

 private:
  absl::Status Make(int64_t batch, const BatchRows& rows);
  // Images of floats; of pixels it tells the seeds, by which the graph does it (DecodePixels).
  void Augment(int64_t batch, std::span<const int64_t> indices, const BatchRows& rows) const;

  const DataSets& data_;
  const uint64_t seed_;
  const BatchPlan plan_;
  const bool lends_;
  std::optional<StreamedSet> stream_;
  std::optional<BatchPrefetch> prefetch_;  // The last: its thread uses the others.
};

}  // namespace taas

#endif  // TRAINER_DATA_STREAM_TRAIN_INPUT_H_
