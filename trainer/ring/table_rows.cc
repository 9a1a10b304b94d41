#include "trainer/ring/table_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/status.h"
#include "trainer/graph/gradient_rows.h"
#include "trainer/loops/bfloat16_loops.h"
#include "trainer/loops/loops.h"

namespace taas {

using collective::BytesOf;
using collective::Wire;

static_assert(sizeof(float) == sizeof(int32_t), "ids and numbers share words");

TableRows::TableRows(std::vector<RowTable> tables, const Options& options)
    : tables_(std::move(tables)),
      options_(options),
      by_rows_(tables_.size()),
      holds_(tables_.size()),
      united_(tables_.size()) {}

void TableRows::BeginStep() {
  own_.clear();
  elements_ = 0;
  std::fill(by_rows_.begin(), by_rows_.end(), false);
  std::ranges::fill(holds_, Holds::kOwn);
}

void TableRows::Count(std::span<const Ids> own, std::span<float> counts) {
  CHECK(own.size() == tables_.size() && counts.size() == this->counts()) << "lists of all tables";
  own_.assign(own.begin(), own.end());
  std::ranges::fill(counts, 0.0F);
  float* const mine = counts.data() + static_cast<size_t>(place_.rank) * tables_.size();
  for (size_t table = 0; table < tables_.size(); ++table) {
    mine[table] = static_cast<float>(std::min(own[table].size(), kRowsCountedMax));
  }
}

absl::Status TableRows::Decide(std::span<const float> counts) {
  counts_.clear();
  for (size_t i = 0; i < counts.size(); ++i) {
    const RowTable& table = tables_[i % tables_.size()];
    const float count = counts[i];
    if (!(count >= 0 && count <= static_cast<float>(std::min(table.rows, kRowsCountedMax)) &&
          count == std::floor(count))) {
      return absl::DataLossError("all-reduce: rank " + std::to_string(i / tables_.size()) +
                                 " says that it has " + std::to_string(count) + " of the " +
                                 std::to_string(table.rows) + " rows of " + table.name +
                                 ": ranks must have the same program");
    }
    counts_.push_back(static_cast<size_t>(count));
  }
  sizes_.assign(static_cast<size_t>(place_.ranks), 0);
  elements_ = 0;
  if (place_.ranks < 2) return absl::OkStatus();
  for (size_t table = 0; table < tables_.size(); ++table) by_rows_[table] = PaysByRows(table);
  for (int rank = 0; rank < place_.ranks; ++rank) {
    size_t ids = 0, values = 0;
    for (size_t table = 0; table < tables_.size(); ++table) {
      if (!by_rows_[table]) continue;
      ids += CountOf(rank, table);
      values += CountOf(rank, table) * tables_[table].width;
    }
    sizes_[static_cast<size_t>(rank)] = ids + WordsOf(values);
    elements_ += ids + WordsOf(values);
  }
  return absl::OkStatus();
}

size_t TableRows::WordsOf(size_t values) const {
  return (values * BytesOf(options_.wire) + sizeof(float) - 1) / sizeof(float);
}

// A ring's sum of v bytes is 2(n-1)/n v from each rank, and its gathering of w about (n-1)/n w.
bool TableRows::PaysByRows(size_t table) const {
  const size_t width = tables_[table].width;
  size_t rows = 0;
  for (int rank = 0; rank < place_.ranks; ++rank) {
    const size_t count = CountOf(rank, table);
    if (count == kRowsCountedMax) return false;
    rows += count;
  }
  const size_t value = BytesOf(options_.wire);
  return rows * (sizeof(int32_t) + width * value) + options_.saved_min <=
         2 * tables_[table].rows * width * value;
}

collective::Plan TableRows::PlanRows(size_t chunk) const {
  return collective::PlanGather(place_, sizes_, chunk);
}

std::span<float> TableRows::Pack(std::span<const float> gradients) {
  words_.resize(elements_);
  float* to = words_.data();
  for (int rank = 0; rank < place_.rank; ++rank) to += sizes_[static_cast<size_t>(rank)];
  for (size_t table = 0; table < tables_.size(); ++table) {
    if (!by_rows_[table] || own_[table].empty()) continue;
    std::memcpy(to, own_[table].data(), own_[table].size_bytes());
    to += own_[table].size();
  }
  auto* values = reinterpret_cast<std::byte*>(to);
  for (size_t table = 0; table < tables_.size(); ++table) {
    if (!by_rows_[table]) continue;
    const std::span<const float> gradient = gradients.subspan(tables_[table].begin);
    ForRowRuns({.width = tables_[table].width, .ids = own_[table]}, [&](const RowRun& run) {
      const float* const from = gradient.data() + run.at;
      if (options_.wire == Wire::kBFloat16) {
        BestBFloat16Loops().round(from, reinterpret_cast<uint16_t*>(values),
                                  static_cast<int64_t>(run.count));
      } else {
        std::memcpy(values, from, run.count * sizeof(float));
      }
      values += run.count * BytesOf(options_.wire);
    });
  }
  return words_;
}

absl::Status TableRows::Check(int rank, size_t table, Ids ids) const {
  for (size_t i = 0; i < ids.size(); ++i) {
    const bool is_row = ids[i] >= 0 && static_cast<size_t>(ids[i]) < tables_[table].rows;
    if (is_row && (i == 0 || ids[i - 1] < ids[i])) continue;
    return absl::DataLossError("all-reduce: rank " + std::to_string(rank) + " sends row " +
                               std::to_string(ids[i]) + " of the " +
                               std::to_string(tables_[table].rows) + " rows of " +
                               tables_[table].name +
                               (is_row ? " behind a later one" : "") +
                               ": ranks must have the same program");
  }
  return absl::OkStatus();
}

// Ids are copied: in the words they are no numbers of their type.
void TableRows::TakeWords() {
  ids_.clear();
  values_.clear();
  const float* at = words_.data();
  for (int rank = 0; rank < place_.ranks; ++rank) {
    size_t count = 0;
    for (size_t table = 0; table < tables_.size(); ++table) {
      if (by_rows_[table]) count += CountOf(rank, table);
    }
    const size_t before = ids_.size();
    ids_.resize(before + count);
    if (count > 0) std::memcpy(ids_.data() + before, at, count * sizeof(int32_t));
    values_.push_back(reinterpret_cast<const std::byte*>(at + count));
    at += sizes_[static_cast<size_t>(rank)];
  }
  lists_.assign(counts_.size(), {});
  const int32_t* next = ids_.data();
  for (size_t i = 0; i < lists_.size(); ++i) {
    if (!by_rows_[i % tables_.size()]) continue;
    lists_[i] = {next, counts_[i]};
    next += counts_[i];
  }
}

absl::Status TableRows::Add(std::span<float> gradients) {
  TakeWords();
  for (size_t i = 0; i < lists_.size(); ++i) {
    RETURN_IF_ERROR(Check(static_cast<int>(i / tables_.size()), i % tables_.size(), lists_[i]));
  }
  for (size_t table = 0; table < tables_.size(); ++table) {
    if (by_rows_[table]) AddTable(table, gradients.data() + tables_[table].begin);
  }
  return absl::OkStatus();
}

void TableRows::AddTable(size_t table, float* gradient) {
  const Loops& loops = BestLoops();
  const size_t width = tables_[table].width;
  ForRowRuns({.width = width, .ids = own_[table]}, [&](const RowRun& run) {
    std::fill_n(gradient + run.at, run.count, 0.0F);
  });
  std::vector<Ids> lists;
  for (size_t rank = 0; rank < values_.size(); ++rank) {
    lists.push_back(lists_[rank * tables_.size() + table]);
    ForRowRuns({.width = width, .ids = lists.back()}, [&](const RowRun& run) {
      float* const sum = gradient + run.at;
      const auto count = static_cast<int64_t>(run.count);
      const std::byte* const from = values_[rank] + run.packed * BytesOf(options_.wire);
      if (options_.wire == Wire::kBFloat16) {
        BestBFloat16Loops().add(reinterpret_cast<const uint16_t*>(from), sum, count);
      } else {
        loops.add(sum, reinterpret_cast<const float*>(from), sum, count);
      }
    });
    values_[rank] += lists.back().size() * width * BytesOf(options_.wire);
  }
  UniteRows(lists, &united_[table]);
  const float factor = 1 / static_cast<float>(place_.ranks);
  ForRowRuns({.width = width, .ids = united_[table]}, [&](const RowRun& run) {
    float* const mean = gradient + run.at;
    loops.scale(mean, factor, mean, static_cast<int64_t>(run.count));
  });
  holds_[table] = Holds::kUnited;
}

std::vector<collective::Part> TableRows::BeginWhole() {
  std::vector<collective::Part> parts;
  for (size_t table = 0; table < tables_.size() && place_.ranks > 1; ++table) {
    if (by_rows_[table]) continue;
    parts.push_back({tables_[table].begin, tables_[table].end - tables_[table].begin});
    holds_[table] = Holds::kAny;
  }
  return parts;
}

}  // namespace taas
