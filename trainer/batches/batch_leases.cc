#include "trainer/batches/batch_leases.h"

#include <algorithm>

namespace taas {

void BatchLeases::Reset(const CommittedSet& committed, int64_t batches) {
  start_ = committed;
  next_ = committed.watermark();
  batches_ = batches;
  returned_.clear();
  lent_.clear();
  finished_.clear();
  while (next_ < batches_ && start_.Contains(next_)) ++next_;
}

std::vector<int64_t> BatchLeases::Grant(const Pusher& holder, int wanted, int replicas) {
  const int64_t left = batches_ - next_ + static_cast<int64_t>(returned_.size());
  // Half of an even share, so that who is faster at the end does more.
  const int64_t share = std::max<int64_t>(1, left / (2 * std::max(1, replicas)));
  const int64_t count = std::min<int64_t>({wanted, kGrantMax, share});
  std::vector<int64_t> batches;
  while (static_cast<int64_t>(batches.size()) < count && available()) {
    int64_t batch;
    if (!returned_.empty()) {
      batch = *returned_.begin();
      returned_.erase(returned_.begin());
    } else {
      batch = next_++;
      while (next_ < batches_ && start_.Contains(next_)) ++next_;
    }
    lent_[batch] = holder;
    batches.push_back(batch);
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
      returned_.insert(it->first);
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
    returned_.insert(batch);
    ++reclaimed;
  }
  return reclaimed;
}

void BatchLeases::Trim(const CommittedSet& committed) {
  lent_.erase(lent_.begin(), lent_.lower_bound(committed.watermark()));
  for (const int64_t batch : committed.above()) lent_.erase(batch);
}

}  // namespace taas
