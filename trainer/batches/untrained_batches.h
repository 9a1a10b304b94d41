// Where one process decides: the lowest batches that are not part of its model.
//
// A step takes some, and then they are part of the model, or the step fails and they are taken
// again. Replicas that agree on a step without being told (a ring) take their share of it so.
//
// Ownership: owns its pool. Threads: one at a time. Errors: none.
//
//   ASSIGN_OR_RETURN(const std::optional<int64_t> batch, batches.Next());
//   if (stepped.ok()) batches.Commit(); else batches.Return();

#ifndef TRAINER_BATCHES_UNTRAINED_BATCHES_H_
#define TRAINER_BATCHES_UNTRAINED_BATCHES_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "trainer/batches/batch_pool.h"
#include "trainer/batches/batch_source.h"
#include "trainer/batches/committed_set.h"

namespace taas {

class UntrainedBatches : public BatchSource {
 public:
  explicit UntrainedBatches(CommittedSet committed = {})
      : pool_(std::move(committed), std::numeric_limits<int64_t>::max()) {}

  absl::StatusOr<std::optional<int64_t>> Next() override {
    const std::optional<int64_t> batch = pool_.Take();
    if (batch) taken_.push_back(*batch);
    return batch;
  }
  // Of the step that is being made.
  const std::vector<int64_t>& taken() const { return taken_; }
  void Commit() {
    for (const int64_t batch : taken_) pool_.Commit(batch);
    taken_.clear();
  }
  void Return() {
    for (const int64_t batch : taken_) pool_.Return(batch);
    taken_.clear();
  }
  const CommittedSet& committed() const { return pool_.committed(); }

 private:
  BatchPool pool_;
  std::vector<int64_t> taken_;
};

}  // namespace taas

#endif  // TRAINER_BATCHES_UNTRAINED_BATCHES_H_
