#include "trainer/batches/batch_leases.h"

#include <algorithm>

namespace taas {

void BatchLeases::Reset(const CommittedSet& committed, int64_t batches) {
  pool_ = BatchPool(committed, batches);
  lent_.clear();
  finished_.clear();
}

std::vector<int64_t> BatchLeases::Grant(const Pusher& holder, int wanted, int replicas) {
  // Half of an even share, so that who is faster at the end does more.
  const int64_t share = std::max<int64_t>(1, pool_.left() / (2 * std::max(1, replicas)));
  const int64_t count = std::min<int64_t>({wanted, kGrantMax, share});
  std::vector<int64_t> batches;
  while (static_cast<int64_t>(batches.size()) < count && available()) {
    batches.push_back(*pool_.Take());
    lent_[batches.back()] = holder;
  }
  return batches;
}

size_t BatchLeases::Reclaim(const Pusher& holder, const CommittedSet& committed) {
  size_t reclaimed = 0;
  for (auto it = lent_.begin(); it != lent_.end();) {
    if (it->second != holder) {
      ++it;
      continue;
    }
    if (!committed.Contains(it->first)) {
      pool_.Return(it->first);
      ++reclaimed;
    }
    it = lent_.erase(it);
  }
  return reclaimed;
}

void BatchLeases::Finish(const Pusher& holder) {
  for (auto it = lent_.begin(); it != lent_.end();) {
    if (it->second == holder) {
      finished_.insert(it->first);
      it = lent_.erase(it);
    } else {
      ++it;
    }
  }
}

size_t BatchLeases::Settle(std::set<int64_t> finished, const CommittedSet& committed) {
  size_t reclaimed = 0;
  for (const int64_t batch : finished) {
    if (finished_.erase(batch) == 0 || committed.Contains(batch)) continue;
    pool_.Return(batch);
    ++reclaimed;
  }
  return reclaimed;
}

void BatchLeases::Trim(const CommittedSet& committed) {
  lent_.erase(lent_.begin(), lent_.lower_bound(committed.watermark()));
  for (const int64_t batch : committed.above()) lent_.erase(batch);
}

}  // namespace taas
