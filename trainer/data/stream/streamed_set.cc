#include "trainer/data/stream/streamed_set.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "operator/base/status.h"

namespace taas {
namespace {

template <typename T>
std::span<T> RowOf(std::span<T> all, size_t rows, size_t row) {
  const size_t width = all.size() / rows;
  return all.subspan(row * width, width);
}

}  // namespace

StreamedSet::StreamedSet(const BlockSource& source, const BatchPlan& plan,
                         BlockCache::Options options)
    : source_(source), plan_(plan), cache_(source, options) {}

void StreamedSet::ReadAhead(int64_t batch) {
  const int64_t position = batch * plan_.batch_size();
  const int64_t first = plan_.WindowAt(position);
  const int64_t last = plan_.WindowAt(position + plan_.batch_size() - 1) + 1;
  std::lock_guard lock(mutex_);
  if (first == first_window_ && last == last_window_) return;
  first_window_ = first;
  last_window_ = last;
  std::vector<int64_t> blocks;
  for (int64_t window = first; window <= last; ++window) {
    const std::vector<int64_t> more = plan_.BlocksOf(window);
    blocks.insert(blocks.end(), more.begin(), more.end());
  }
  cache_.ReadAhead(std::move(blocks));
}

// Block by block, so that no more than one is held.
absl::Status StreamedSet::Gather(std::span<const int64_t> indices, const BatchRows& rows) {
  struct Row {
    int64_t block;
    size_t row;
  };
  std::vector<Row> order(indices.size());
  for (size_t row = 0; row < indices.size(); ++row) {
    order[row] = {indices[row] / source_.block_examples(), row};
  }
  std::ranges::sort(order, {}, &Row::block);
  BlockCache::Block block;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || order[i].block != order[i - 1].block) {
      block = nullptr;
      ASSIGN_OR_RETURN(block, cache_.Get(order[i].block));
    }
    const size_t row = order[i].row;
    const int64_t index = indices[row] - order[i].block * source_.block_examples();
    GatherRows(*block, {&index, 1},
               {.features = RowOf(rows.features, indices.size(), row),
                .pixels = RowOf(rows.pixels, indices.size(), row),
                .ids = RowOf(rows.ids, indices.size(), row),
                .labels = RowOf(rows.labels, indices.size(), row),
                .targets = RowOf(rows.targets, indices.size(), row)});
  }
  return absl::OkStatus();
}

}  // namespace taas
