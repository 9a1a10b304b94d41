// Which rows of a shard's pieces the latest updates changed, so that a replica that has the values
// of an earlier step is sent those rows and not everything.
//
// Ownership: owns its lists. Threads: one at a time. Errors: none.
//
//   changes.Add(std::move(changed));          // with each update
//   const auto rows = changes.Since(step);    // of a replica with the values of `step`

#ifndef TRAINER_PS_ROW_CHANGES_H_
#define TRAINER_PS_ROW_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <vector>

namespace taas::ps {

class RowChanges {
 public:
  // Of one piece.
  struct Rows {
    size_t width = 0;  // Elements of a row; 0: every element may have changed.
    std::vector<int32_t> ids{};  // Ascending, each once, from the piece's first row.
  };

  // What is kept of updates: 4 MiB of ids. A replica that is further behind is sent everything,
  // which is little beside so many rows.
  static constexpr size_t kIdsMax = size_t{1} << 20;
  // And of updates without ids: as many as a replica is seldom behind.
  static constexpr size_t kUpdatesMax = 1024;

  // `step`: of the values before the first update.
  RowChanges(size_t pieces, int64_t step) : pieces_(pieces), first_(step) {}

  // Of the next update: of each piece.
  void Add(std::vector<Rows> changed);
  // Of each piece what changed after `step`.
  std::vector<Rows> Since(int64_t step) const;
  // Of one piece what changed after `step`, until `until`.
  Rows Between(size_t piece, int64_t step, int64_t until) const;
  // Of the values after the last update.
  int64_t last() const { return first_ + std::ssize(updates_); }
  // Whether the last update changed rows of the piece only, as far as is known.
  bool LastByRows(size_t piece) const {
    return !updates_.empty() && updates_.back()[piece].width > 0;
  }

 private:
  const size_t pieces_;
  int64_t first_;  // The step before the updates that are kept.
  std::deque<std::vector<Rows>> updates_;
  size_t ids_ = 0;
};

}  // namespace taas::ps

#endif  // TRAINER_PS_ROW_CHANGES_H_
