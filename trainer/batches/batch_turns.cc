#include "trainer/batches/batch_turns.h"

#include <algorithm>
#include <utility>

namespace taas {

BatchTurns::BatchTurns(CommittedSet committed, int64_t batches)
    : pool_(std::move(committed), batches) {}

std::optional<int64_t> BatchTurns::Take() {
  if (const std::optional<int64_t> batch = pool_.Take()) return batch;
  for (const auto& [pusher, batch] : under_way_) {
    if (delivered_.count(batch) == 0) return batch;
  }
  return std::nullopt;
}

bool BatchTurns::Held(int64_t batch) const {
  return std::any_of(under_way_.begin(), under_way_.end(),
                     [&](const auto& entry) { return entry.second == batch; });
}

std::optional<int64_t> BatchTurns::Give(const Pusher& pusher) {
  const auto found = under_way_.find(pusher);
  if (found != under_way_.end()) return found->second;
  const std::optional<int64_t> batch = Take();
  if (batch) under_way_[pusher] = *batch;
  return batch;
}

bool BatchTurns::Deliver(const Pusher& pusher, int64_t batch) {
  const auto found = under_way_.find(pusher);
  if (found != under_way_.end() && found->second == batch) under_way_.erase(found);
  if (batch < 0 || batch >= pool_.next() || committed().Contains(batch)) return false;
  if (!delivered_.insert(batch).second) return false;
  pool_.Withdraw(batch);
  return true;
}

void BatchTurns::TakeBack(const Pusher& pusher) {
  const auto found = under_way_.find(pusher);
  if (found == under_way_.end()) return;
  const int64_t batch = found->second;
  under_way_.erase(found);
  if (delivered_.count(batch) == 0 && !Held(batch)) pool_.Return(batch);
}

void BatchTurns::Undo(int64_t batch) {
  if (delivered_.erase(batch) > 0 && !Held(batch)) pool_.Return(batch);
}

void BatchTurns::EndStep() {
  for (const int64_t batch : delivered_) pool_.Commit(batch);
  delivered_.clear();
  for (const auto& [pusher, batch] : under_way_) {
    if (!committed().Contains(batch)) pool_.Return(batch);
  }
  under_way_.clear();
}

void BatchTurns::Commit(int64_t batch) {
  pool_.Commit(batch);
  delivered_.erase(batch);
  std::erase_if(under_way_, [batch](const auto& entry) { return entry.second == batch; });
}

std::optional<int64_t> BatchTurns::of(const Pusher& pusher) const {
  const auto found = under_way_.find(pusher);
  return found == under_way_.end() ? std::nullopt : std::optional(found->second);
}

size_t BatchTurns::under_way() const {
  std::set<int64_t> batches;
  for (const auto& [pusher, batch] : under_way_) {
    if (delivered_.count(batch) == 0) batches.insert(batch);
  }
  return batches.size();
}

}  // namespace taas
