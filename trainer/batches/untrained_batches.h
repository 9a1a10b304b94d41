// Where one process decides: the lowest batches that are not part of its model.
//
// A step takes some, and then they are part of the model, or the step fails and they are taken
// again. Steps that are made at the same time take theirs one behind the other, and end in that
// order. Replicas that agree on a step without being told (a ring) take their share of it so.
//
// Ownership: owns its pool. Threads: one at a time. Errors: none.
//
//   ASSIGN_OR_RETURN(const std::optional<int64_t> batch, batches.Next());
//   if (stepped.ok()) batches.Commit(1); else batches.Return(1);

#ifndef TRAINER_BATCHES_UNTRAINED_BATCHES_H_
#define TRAINER_BATCHES_UNTRAINED_BATCHES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "operator/base/check.h"
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
  // Of the steps that are being made, in the order in which they were taken.
  const std::vector<int64_t>& taken() const { return taken_; }
  // The first of them.
  void Commit(size_t count) {
    CHECK(count <= taken_.size()) << count << " of " << taken_.size() << " batches";
    const auto end = taken_.begin() + static_cast<std::ptrdiff_t>(count);
    for (auto batch = taken_.begin(); batch != end; ++batch) pool_.Commit(*batch);
    taken_.erase(taken_.begin(), end);
  }
  // The last of them.
  void Return(size_t count) {
    CHECK(count <= taken_.size()) << count << " of " << taken_.size() << " batches";
    for (; count > 0; --count) {
      pool_.Return(taken_.back());
      taken_.pop_back();
    }
  }
  const CommittedSet& committed() const { return pool_.committed(); }

 private:
  BatchPool pool_;
  std::vector<int64_t> taken_;
};

}  // namespace taas

#endif  // TRAINER_BATCHES_UNTRAINED_BATCHES_H_
