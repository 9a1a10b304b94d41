#include "trainer/batches/batch_pool.h"

#include <utility>

namespace taas {

BatchPool::BatchPool(CommittedSet committed, int64_t end)
    : committed_(std::move(committed)), end_(end), next_(committed_.watermark()) {
  Skip();
}

void BatchPool::Skip() {
  while (next_ < end_ && committed_.Contains(next_)) ++next_;
}

std::optional<int64_t> BatchPool::Take() {
  if (!returned_.empty()) return returned_.extract(returned_.begin()).value();
  if (next_ >= end_) return std::nullopt;
  const int64_t batch = next_++;
  Skip();
  return batch;
}

bool BatchPool::Commit(int64_t batch) {
  if (batch < 0 || batch >= end_ || !committed_.Add(batch)) return false;
  Skip();
  return true;
}

}  // namespace taas
