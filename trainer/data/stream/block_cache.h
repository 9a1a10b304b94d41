// The blocks of a source that are in memory: so many at most, read by threads of its own before
// they are needed, or by the thread that needs one.
//
// A block that is needed drops the one that was not used for longest; one that is read ahead never
// drops one of those that are to be there. So what is asked for beyond `blocks_max` waits.
//
// Ownership: borrows the source; owns its threads. A block lives as long as a caller holds it, so
// in memory are `blocks_max` and one for each thread that is at a block no longer kept. Threads:
// any. Errors: those of the source. One that a reader met is met again by who needs the block,
// unless it has passed.
//
//   BlockCache cache(source, {.blocks_max = 128, .readers = 2});
//   cache.ReadAhead({17, 4, 9});
//   ASSIGN_OR_RETURN(const auto block, cache.Get(17));

#ifndef TRAINER_DATA_STREAM_BLOCK_CACHE_H_
#define TRAINER_DATA_STREAM_BLOCK_CACHE_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer/data/dataset.h"
#include "trainer/data/stream/block_source.h"

namespace taas {

class BlockCache {
 public:
  using Block = std::shared_ptr<const Dataset>;
  struct Options {
    int64_t blocks_max = 1;  // At least 1.
    int readers = 0;         // Threads.
  };
  struct Stats {
    int64_t loads = 0;    // Blocks that were read, again or for the first time.
    int64_t missed = 0;   // Of those that were asked for, which were not there yet.
    int64_t resident = 0;      // Now, those that callers hold included.
    int64_t resident_max = 0;  // At one time.
  };

  BlockCache(const BlockSource& source, Options options);
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  absl::StatusOr<Block> Get(int64_t block);
  // The blocks that are to be there, in the order in which they will be needed; replaces the list
  // of before.
  void ReadAhead(std::vector<int64_t> blocks);

  Stats stats() const;

 private:
  struct Entry {
    Block block;         // Null while it is read, or if that failed.
    bool failed = false;
    uint64_t used = 0;   // When, in calls.
  };
  // Lives as long as the last block: a caller may keep it beyond the cache.
  struct Count {
    std::mutex mutex;
    int64_t resident = 0;
    int64_t resident_max = 0;
  };
  struct Counted {
    Counted(Dataset of, std::shared_ptr<Count> in);
    ~Counted();
    Dataset set;
    std::shared_ptr<Count> count;
  };

  void Serve();
  std::optional<int64_t> NextToRead();
  bool MakeRoom(bool also_wanted);
  // Reads `block`, which has an entry, without the lock, and wakes those who wait.
  absl::StatusOr<Block> Load(int64_t block, std::unique_lock<std::mutex>& lock);

  const BlockSource& source_;
  const Options options_;
  const std::shared_ptr<Count> count_ = std::make_shared<Count>();
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  std::map<int64_t, Entry> entries_;
  std::vector<int64_t> ahead_;
  std::set<int64_t> wanted_;  // The same, to look up.
  uint64_t calls_ = 0;
  int64_t loads_ = 0;
  int64_t missed_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace taas

#endif  // TRAINER_DATA_STREAM_BLOCK_CACHE_H_
