#include "trainer/data/stream/block_cache.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"

namespace taas {

BlockCache::Counted::Counted(Dataset of, std::shared_ptr<Count> in)
    : set(std::move(of)), count(std::move(in)) {
  std::lock_guard lock(count->mutex);
  count->resident_max = std::max(count->resident_max, ++count->resident);
}

BlockCache::Counted::~Counted() {
  std::lock_guard lock(count->mutex);
  --count->resident;
}

BlockCache::BlockCache(const BlockSource& source, Options options)
    : source_(source), options_(options) {
  CHECK(options.blocks_max >= 1) << "a cache of no blocks";
  for (int i = 0; i < options.readers; ++i) threads_.emplace_back([this] { Serve(); });
}

BlockCache::~BlockCache() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

absl::StatusOr<BlockCache::Block> BlockCache::Get(int64_t block) {
  std::unique_lock lock(mutex_);
  bool counted = false;
  for (;;) {
    const auto found = entries_.find(block);
    if (found != entries_.end() && found->second.block != nullptr) {
      found->second.used = ++calls_;
      return found->second.block;
    }
    if (!std::exchange(counted, true)) ++missed_;
    if (found != entries_.end() && !found->second.failed) {
      changed_.wait(lock);
      continue;
    }
    if (found == entries_.end()) MakeRoom(/*also_wanted=*/true);
    entries_[block] = {.used = ++calls_};
    return Load(block, lock);
  }
}

void BlockCache::ReadAhead(std::vector<int64_t> blocks) {
  std::lock_guard lock(mutex_);
  if (blocks == ahead_) return;
  wanted_ = {blocks.begin(), blocks.end()};
  ahead_ = std::move(blocks);
  changed_.notify_all();
}

// False if all that could go is needed. What is being read cannot go, and if that is all, the
// caller's block is one more: there are as many as threads.
bool BlockCache::MakeRoom(bool also_wanted) {
  while (std::ssize(entries_) >= options_.blocks_max) {
    auto oldest = entries_.end();
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      const bool reading = it->second.block == nullptr && !it->second.failed;
      if (reading || (!also_wanted && wanted_.count(it->first) > 0)) continue;
      if (oldest == entries_.end() || it->second.used < oldest->second.used) oldest = it;
    }
    if (oldest == entries_.end()) return false;
    entries_.erase(oldest);
  }
  return true;
}

std::optional<int64_t> BlockCache::NextToRead() {
  const auto next = std::ranges::find_if(
      ahead_, [this](int64_t block) { return entries_.count(block) == 0; });
  if (next == ahead_.end() || !MakeRoom(/*also_wanted=*/false)) return std::nullopt;
  return *next;
}

void BlockCache::Serve() {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    const std::optional<int64_t> block = NextToRead();
    if (!block) {
      changed_.wait(lock);
      continue;
    }
    entries_[*block] = {.used = ++calls_};
    // An error stays with the entry, for whoever needs the block.
    (void)Load(*block, lock);
  }
}

absl::StatusOr<BlockCache::Block> BlockCache::Load(int64_t block,
                                                   std::unique_lock<std::mutex>& lock) {
  ++loads_;
  lock.unlock();
  absl::StatusOr<Dataset> set = source_.Load(block);
  Block loaded;
  if (set.ok()) {
    const auto counted = std::make_shared<Counted>(*std::move(set), count_);
    loaded = Block(counted, &counted->set);
  }
  lock.lock();
  // Others leave an entry that is being read where it is.
  Entry& entry = entries_.find(block)->second;
  entry.block = loaded;
  entry.failed = loaded == nullptr;
  changed_.notify_all();
  if (loaded == nullptr) return set.status();
  return loaded;
}

BlockCache::Stats BlockCache::stats() const {
  std::lock_guard lock(mutex_);
  std::lock_guard count_lock(count_->mutex);
  return {.loads = loads_,
          .missed = missed_,
          .resident = count_->resident,
          .resident_max = count_->resident_max};
}

}  // namespace taas
