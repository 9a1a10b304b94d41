#include "trainer/data/stream/batch_prefetch.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"

namespace taas {

BatchPrefetch::BatchPrefetch(Options options, Make make)
    : options_(options), make_(std::move(make)) {
  CHECK(options.ahead >= 1 && options.in_step >= 1) << "nothing to make ahead";
  if (options.memory.empty()) {
    // Those of one step are being taken while the others are ahead.
    storage_.resize(static_cast<size_t>(options.ahead + options.in_step));
    for (Storage& of : storage_) {
      of.features.resize(options.sizes.features);
      of.pixels.resize(options.sizes.pixels);
      of.seeds.resize(options.sizes.seeds);
      of.ids.resize(options.sizes.ids);
      of.labels.resize(options.sizes.labels);
      of.targets.resize(options.sizes.targets);
      slots_.push_back(
          {.rows = {of.features, of.pixels, of.seeds, of.ids, of.labels, of.targets}});
    }
  }
  for (const BatchRows& rows : options.memory) slots_.push_back({.rows = rows});
  CHECK(std::ssize(slots_) > options.ahead) << "room for those ahead alone";
  thread_ = std::thread([this] { Serve(); });
}

BatchPrefetch::~BatchPrefetch() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

absl::Status BatchPrefetch::Take(int64_t batch, const BatchRows& rows) {
  std::unique_lock lock(mutex_);
  Slot* const slot = Await(batch, lock);
  lock.unlock();
  if (slot == nullptr) return make_(batch, rows);
  std::ranges::copy(slot->rows.features, rows.features.begin());
  std::ranges::copy(slot->rows.pixels, rows.pixels.begin());
  std::ranges::copy(slot->rows.seeds, rows.seeds.begin());
  std::ranges::copy(slot->rows.ids, rows.ids.begin());
  std::ranges::copy(slot->rows.labels, rows.labels.begin());
  std::ranges::copy(slot->rows.targets, rows.targets.begin());
  absl::Status status = std::exchange(slot->status, absl::OkStatus());
  lock.lock();
  Free(*slot);
  return status;
}

absl::StatusOr<BatchPrefetch::Lent> BatchPrefetch::Lend(int64_t batch) {
  std::unique_lock lock(mutex_);
  Slot* slot = Await(batch, lock);
  if (slot == nullptr) {
    for (slot = Spare(); slot == nullptr; slot = Spare()) changed_.wait(lock);
    slot->state = State::kBeingTaken;
    slot->batch = batch;
    lock.unlock();
    slot->status = make_(batch, slot->rows);
    lock.lock();
  }
  absl::Status status = std::exchange(slot->status, absl::OkStatus());
  if (status.ok()) return Lent{slot->rows, static_cast<size_t>(slot - slots_.data())};
  Free(*slot);
  return status;
}

void BatchPrefetch::GiveBack(size_t slot) {
  const std::lock_guard lock(mutex_);
  CHECK(slot < slots_.size() && slots_[slot].state == State::kBeingTaken)
      << "slot " << slot << " was not lent";
  Free(slots_[slot]);
}

BatchPrefetch::Slot* BatchPrefetch::Await(int64_t batch, std::unique_lock<std::mutex>& lock) {
  Expect(batch);
  changed_.notify_all();
  Slot* slot = Find(batch);
  while (slot != nullptr && slot->state == State::kBeingMade) {
    slot->awaited = true;
    changed_.wait(lock);
    slot = Find(batch);
  }
  if (slot != nullptr) slot->state = State::kBeingTaken;
  return slot;
}

void BatchPrefetch::Free(Slot& slot) {
  slot.state = State::kFree;
  slot.awaited = false;
  changed_.notify_all();
}

BatchPrefetch::Slot* BatchPrefetch::Spare() {
  Slot* spare = nullptr;
  for (Slot& slot : slots_) {
    const bool made = slot.state == State::kMade && !slot.awaited;
    if (slot.state == State::kFree || (made && !IsExpected(slot.batch))) return &slot;
    if (made) spare = &slot;
  }
  return spare;
}

// A step between two batches counts when it comes twice: between two leases of batches in turn it
// is any number once.
void BatchPrefetch::Expect(int64_t batch) {
  const int64_t step = batch - last_;
  if (step <= 0 && step > -options_.in_step) return;  // Of the same step of towers.
  if (options_.in_step == 1 && step > 0 && step == step_) stride_ = step;
  step_ = step;
  last_ = batch;
}

// What towers have not taken of the last step still counts.
bool BatchPrefetch::IsExpected(int64_t batch) const {
  const int64_t distance = batch - last_;
  return distance > -options_.in_step && distance <= options_.ahead * stride_ &&
         distance % stride_ == 0;
}

BatchPrefetch::Slot* BatchPrefetch::Find(int64_t batch) {
  const auto slot = std::ranges::find_if(slots_, [&](const Slot& candidate) {
    return candidate.batch == batch &&
           (candidate.state == State::kMade || candidate.state == State::kBeingMade);
  });
  return slot == slots_.end() ? nullptr : &*slot;
}

BatchPrefetch::Slot* BatchPrefetch::Claim() {
  if (last_ < 0) return nullptr;
  for (int64_t i = 1; i <= options_.ahead; ++i) {
    const int64_t batch = last_ + i * stride_;
    if (Find(batch) != nullptr) continue;
    const auto slot = std::ranges::find_if(slots_, [&](const Slot& candidate) {
      return candidate.state == State::kFree ||
             (candidate.state == State::kMade && !candidate.awaited &&
              !IsExpected(candidate.batch));
    });
    if (slot == slots_.end()) return nullptr;
    slot->state = State::kBeingMade;
    slot->batch = batch;
    return &*slot;
  }
  return nullptr;
}

void BatchPrefetch::Serve() {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    Slot* const slot = Claim();
    if (slot == nullptr) {
      changed_.wait(lock);
      continue;
    }
    lock.unlock();
    absl::Status status = make_(slot->batch, slot->rows);
    lock.lock();
    slot->status = std::move(status);
    slot->state = State::kMade;
    changed_.notify_all();
  }
}

}  // namespace taas
