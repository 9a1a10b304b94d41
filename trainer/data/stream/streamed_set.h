// Examples of a source of blocks by their numbers, as if they were all in memory.
//
// Which blocks are read ahead follows from the plan: those of the windows that a batch is in, then
// those of the window after them.
//
// Ownership: borrows the source. Threads: any, several at a time. Errors: those of the source.
//
//   StreamedSet set(source, plan, {.blocks_max = 128, .readers = 2});
//   set.ReadAhead(batch);
//   RETURN_IF_ERROR(set.Gather(indices, rows));

#ifndef TRAINER_DATA_STREAM_STREAMED_SET_H_
#define TRAINER_DATA_STREAM_STREAMED_SET_H_

#include <cstdint>
#include <mutex>
#include <span>

#include "absl/status/status.h"
#include "trainer/data/batch_plan.h"
#include "trainer/data/stream/block_cache.h"
#include "trainer/data/stream/block_source.h"

namespace taas {

class StreamedSet {
 public:
  // `plan` has the source's blocks.
  StreamedSet(const BlockSource& source, const BatchPlan& plan, BlockCache::Options options);

  void ReadAhead(int64_t batch);
  absl::Status Gather(std::span<const int64_t> indices, const BatchRows& rows);
  BlockCache::Stats stats() const { return cache_.stats(); }

 private:
  const BlockSource& source_;
  const BatchPlan plan_;
  BlockCache cache_;
  std::mutex mutex_;
  int64_t first_window_ = -1;  // Of the blocks that are being read ahead.
  int64_t last_window_ = -1;
};

}  // namespace taas

#endif  // TRAINER_DATA_STREAM_STREAMED_SET_H_
