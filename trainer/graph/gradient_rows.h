// Which rows of a table a gradient has; everywhere else it is zero.
//
// A batch looks up some thousand rows of a table of millions, so the gradient of the table is those
// rows. What is done to a gradient (clipping, means, updates, pushes) is done to them alone.
//
// Ownership: borrows the list. Threads: any. Errors: none.
//
//   if (const auto rows = session->gradient_rows(i)) {
//     ForRowRuns(*rows, [&](const RowRun& run) { Scale(gradient.subspan(run.at, run.count)); });
//   }

#ifndef TRAINER_GRAPH_GRADIENT_ROWS_H_
#define TRAINER_GRAPH_GRADIENT_ROWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace taas {

// Of a table that is looked up in: lists of rows, which also go to parameter servers, have 32 bits
// for each. A table of so many rows has at least 8 GB.
inline constexpr int64_t kTableRowsMax = std::numeric_limits<int32_t>::max();

struct GradientRows {
  size_t width = 1;              // Elements of a row.
  std::span<const int32_t> ids;  // Ascending, each once.

  size_t elements() const { return ids.size() * width; }
};

// Rows that lie next to each other, in elements.
struct RowRun {
  size_t at = 0;      // In the table.
  size_t packed = 0;  // Among the rows listed, one after the other.
  size_t count = 0;
};

template <typename Run>
void ForRowRuns(const GradientRows& rows, Run run) {
  const std::span<const int32_t> ids = rows.ids;
  for (size_t begin = 0, end = 0; begin < ids.size(); begin = end) {
    do ++end;
    while (end < ids.size() && ids[end] == ids[end - 1] + 1);
    run(RowRun{.at = static_cast<size_t>(ids[begin]) * rows.width,
               .packed = begin * rows.width,
               .count = (end - begin) * rows.width});
  }
}

// Appends the parts of `gradient` that may not be zero: all of it where there is no list.
inline void AddParts(std::span<float> gradient, const std::optional<GradientRows>& rows,
                     std::vector<std::span<float>>* parts) {
  if (!rows) {
    parts->push_back(gradient);
    return;
  }
  ForRowRuns(*rows, [&](const RowRun& run) {
    parts->push_back(gradient.subspan(run.at, run.count));
  });
}

// `united` becomes what is in any of the lists, ascending, each once; its memory is used again.
inline void UniteRows(std::span<const std::span<const int32_t>> lists,
                      std::vector<int32_t>* united) {
  united->clear();
  for (const std::span<const int32_t> list : lists) {
    united->insert(united->end(), list.begin(), list.end());
  }
  std::ranges::sort(*united);
  united->erase(std::unique(united->begin(), united->end()), united->end());
}

}  // namespace taas

#endif  // TRAINER_GRAPH_GRADIENT_ROWS_H_
