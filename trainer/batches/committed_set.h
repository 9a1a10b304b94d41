// The set of batch numbers that are part of the model: the data cursor.
//
// Batches commit almost in order, so the set is a watermark (all below are in) and the few above
// it.
//
// Ownership: value type. Threads: one at a time. Errors: none; adding a member again is refused
// (false).
//
//   CommittedSet committed;
//   if (!committed.Add(batch)) return;  // It was part of the model already.

#ifndef TRAINER_BATCHES_COMMITTED_SET_H_
#define TRAINER_BATCHES_COMMITTED_SET_H_

#include <cstdint>
#include <set>
#include <vector>

namespace taas {

class CommittedSet {
 public:
  CommittedSet() = default;
  CommittedSet(int64_t watermark, const std::vector<int64_t>& above) : watermark_(watermark) {
    for (const int64_t batch : above) Add(batch);
  }

  bool Contains(int64_t batch) const { return batch < watermark_ || above_.count(batch) != 0; }
  bool Add(int64_t batch) {
    if (Contains(batch)) return false;
    if (batch != watermark_) return above_.insert(batch).second;
    ++watermark_;  // In order, as one process has them: nothing is stored.
    while (!above_.empty() && *above_.begin() == watermark_) {
      above_.erase(above_.begin());
      ++watermark_;
    }
    return true;
  }
  int64_t size() const { return watermark_ + static_cast<int64_t>(above_.size()); }
  int64_t watermark() const { return watermark_; }
  std::vector<int64_t> above() const { return {above_.begin(), above_.end()}; }

  bool operator==(const CommittedSet&) const = default;

 private:
  int64_t watermark_ = 0;
  std::set<int64_t> above_;
};

}  // namespace taas

#endif  // TRAINER_BATCHES_COMMITTED_SET_H_
