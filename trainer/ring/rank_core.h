// What a rank does next, and where it stands: an epoch is awaited, entered, stepped through until
// it ends, and so on until the job is done. Whoever drives it (rank_loop.h with threads, a
// simulation with virtual time) does what it wants and says what came of it.
//
// A rank that is given a model and loses its epoch meanwhile has none any more. A rank that waits
// for the end of the job keeps its model: a chief that comes anew takes it from there.
//
// Pure. Ownership: value type. Threads: one at a time. Errors: none of its own.
//
//   while (core.want() != RankWant::kNothing) …

#ifndef TRAINER_RING_RANK_CORE_H_
#define TRAINER_RING_RANK_CORE_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "trainer/batches/untrained_batches.h"
#include "trainer/ring/epoch.h"

namespace taas {

enum class RankWant : uint8_t {
  kModel,    // To know what it has by itself: Begin.
  kEpoch,    // The next epoch: Join.
  kEnter,    // To meet the others, and to give or be given the model: Entered, NotEntered.
  kStep,     // A step with the others: Take, then Made or NotMade.
  kOutlast,  // All steps are made: to do what ends the job, or wait for that: Outlasted.
  kNothing,  // The job is done.
};

class RankCore {
 public:
  explicit RankCore(int64_t max_steps) : max_steps_(max_steps) {}

  RankWant want() const { return want_; }
  const Standing& standing() const { return standing_; }
  const Epoch& epoch() const { return epoch_; }
  // Whose link broke in the last epoch, if that ended it.
  std::optional<int> lost() const { return lost_; }

  // It has this model: the last checkpoint's, the seed's, or none.
  void Begin(const Standing& standing);
  // Nothing: the job is done. If this rank is given a model what is there is overwritten from now
  // on. An epoch that takes it to stand elsewhere is not entered: the chief has heard an older
  // word.
  void Join(const std::optional<Epoch>& epoch);
  bool receives() const;
  // It has met the others and the model is that of the epoch's start, or the epoch is over.
  void Entered();
  void NotEntered(std::optional<int> lost);

  struct Turn {
    int64_t step = 0;
    int64_t batch = 0;  // Of this rank.
  };
  absl::StatusOr<Turn> Take();
  // The step is part of the model.
  void Made();
  // The epoch is over before it was.
  void NotMade(std::optional<int> lost);
  void Outlasted();

 private:
  RankWant NextOfEpoch() const {
    return standing_.step < max_steps_ ? RankWant::kStep : RankWant::kOutlast;
  }

  const int64_t max_steps_;
  RankWant want_ = RankWant::kModel;
  Standing standing_;
  Epoch epoch_;
  std::optional<int> lost_;
  UntrainedBatches batches_;
};

}  // namespace taas

#endif  // TRAINER_RING_RANK_CORE_H_
