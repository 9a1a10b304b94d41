// The batches of a job that are still to be trained: what every way of handing them out takes from
// and gives back to.
//
// Lowest first, and what was given back before what nobody had yet, so that the set of batches that
// are part of the model has few gaps.
//
// Ownership: value type. Threads: one at a time. Errors: none.
//
//   BatchPool pool(snapshot.committed, /*end=*/1'000);
//   while (const std::optional<int64_t> batch = pool.Take()) {
//     if (Train(*batch)) pool.Commit(*batch); else pool.Return(*batch);
//   }

#ifndef TRAINER_BATCHES_BATCH_POOL_H_
#define TRAINER_BATCHES_BATCH_POOL_H_

#include <cstdint>
#include <optional>
#include <set>

#include "trainer/batches/committed_set.h"

namespace taas {

class BatchPool {
 public:
  BatchPool() = default;
  // Everything below `end` that is not in `committed`. A checkpoint that several replicas made in
  // the middle of a job has gaps.
  BatchPool(CommittedSet committed, int64_t end);

  // Nothing if all are taken or part of the model.
  std::optional<int64_t> Take();
  // What was taken is to be taken again.
  void Return(int64_t batch) { returned_.insert(batch); }
  // What was returned is not needed any more.
  void Withdraw(int64_t batch) { returned_.erase(batch); }
  // `batch` is part of the model; false if it was, or is none of this pool's.
  bool Commit(int64_t batch);

  bool available() const { return !returned_.empty() || next_ < end_; }
  // How many there may be to take, those between them that are part of the model counted in.
  int64_t left() const { return end_ - next_ + static_cast<int64_t>(returned_.size()); }
  // No batch at or above was ever taken.
  int64_t next() const { return next_; }
  const CommittedSet& committed() const { return committed_; }

 private:
  void Skip();

  CommittedSet committed_;
  int64_t end_ = 0;
  int64_t next_ = 0;
  std::set<int64_t> returned_;
};

}  // namespace taas

#endif  // TRAINER_BATCHES_BATCH_POOL_H_
