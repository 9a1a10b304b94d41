#include "trainer/ps/row_changes.h"

#include <iterator>
#include <span>
#include <utility>

#include "trainer/graph/gradient_rows.h"

namespace taas::ps {
namespace {

size_t IdsOf(const std::vector<RowChanges::Rows>& changed) {
  size_t ids = 0;
  for (const RowChanges::Rows& rows : changed) ids += rows.ids.size();
  return ids;
}

}  // namespace

void RowChanges::Add(std::vector<Rows> changed) {
  ids_ += IdsOf(changed);
  updates_.push_back(std::move(changed));
  while (ids_ > kIdsMax || updates_.size() > kUpdatesMax) {
    ids_ -= IdsOf(updates_.front());
    updates_.pop_front();
    ++first_;
  }
}

std::vector<RowChanges::Rows> RowChanges::Since(int64_t step) const {
  std::vector<Rows> changed(pieces_);
  if (step < first_ || step > first_ + std::ssize(updates_)) return changed;
  std::vector<std::span<const int32_t>> lists;
  for (size_t piece = 0; piece < pieces_; ++piece) {
    lists.clear();
    size_t width = 1;  // Of no rows any will do.
    for (auto update = updates_.begin() + (step - first_); update != updates_.end(); ++update) {
      const Rows& rows = (*update)[piece];
      width = lists.empty() || rows.width == width ? rows.width : 0;
      lists.push_back(rows.ids);
      if (width == 0) break;
    }
    changed[piece].width = width;
    if (width > 0) UniteRows(lists, &changed[piece].ids);
  }
  return changed;
}

}  // namespace taas::ps
