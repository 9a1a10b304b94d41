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
  std::vector<Rows> changed;
  for (size_t piece = 0; piece < pieces_; ++piece) {
    changed.push_back(Between(piece, step, last()));
  }
  return changed;
}

RowChanges::Rows RowChanges::Between(size_t piece, int64_t step, int64_t until) const {
  if (step < first_ || step > until || until > last()) return {};
  Rows changed{.width = 1};  // Of no rows any width will do.
  std::vector<std::span<const int32_t>> lists;
  for (int64_t at = step - first_; at < until - first_; ++at) {
    const Rows& rows = updates_[static_cast<size_t>(at)][piece];
    if (rows.width == 0 || (!lists.empty() && rows.width != changed.width)) return {};
    changed.width = rows.width;
    lists.push_back(rows.ids);
  }
  UniteRows(lists, &changed.ids);
  return changed;
}

}  // namespace taas::ps
