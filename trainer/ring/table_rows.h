// The gradients of tables that list their rows (gradient_rows.h), as ranks exchange them: the rows,
// where these are fewer bytes than the table, of which nearly all is zero.
//
// Each rank says beside its loss how many rows it has of each table. By these counts, which are all
// that it goes by, all ranks decide alike which tables go by rows in this step; the others go
// whole, like any other gradient. Rows go from each rank to all (collective::PlanGather), one
// rank's words behind another's:
//
//   rank = { id:i32 }             of each row of each table that goes by rows, ascending
//          { float32 × width }    of each of them; or bfloat16, in whole words
//
// Every rank adds those of one id in the order of ranks, so all have the same bits. A rank that has
// no row of that id adds nothing.
//
// Ownership: owns what is exchanged; borrows the lists of a step until the next. Threads: one at a
// time. Errors: DataLoss, naming rank and table, for counts and ids that cannot be; gradients are
// as they were then.
//
//   TableRows rows(tables, {.wire = collective::Wire::kBFloat16});
//   rows.BeginStep();
//   rows.Count(own, counts);                    // the sum of all ranks' counts comes back
//   RETURN_IF_ERROR(rows.Decide(counts));
//   if (rows.any()) { exchange.Begin(turn, rows.Pack(gradients)); … rows.Add(gradients); }

#ifndef TRAINER_RING_TABLE_ROWS_H_
#define TRAINER_RING_TABLE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainer/collective/exchange.h"
#include "trainer/collective/plan.h"

namespace taas {

// A table goes by rows where that saves so many bytes of its exchange. Rows take n-1 messages of
// their own, 50 us among four processes of one machine (docs/benchmarks.md), in which a link of 10
// Gbit/s moves these; smaller tables than half of it go whole always.
constexpr size_t kRowsSavedMin = size_t{64} << 10;
// Counts go as floats, which are exact up to here. Of a table of which a rank has so many rows or
// more the whole goes.
constexpr size_t kRowsCountedMax = size_t{1} << 24;

// As its gradient lies among those of the model, in elements.
struct RowTable {
  std::string name;
  size_t begin = 0, end = 0;  // With what lies between it and the next.
  size_t rows = 0, width = 1;
};

class TableRows {
 public:
  using Ids = std::span<const int32_t>;
  // What of the gradient of a table may not be zero.
  enum class Holds : uint8_t {
    kOwn,     // The rows that this rank's batch looked up: nothing of others has come.
    kUnited,  // Those of all ranks.
    kAny,     // Sums of a whole table.
  };

  struct Options {
    size_t saved_min = kRowsSavedMin;
    // In bfloat16 what a rank sends is rounded, and counts as rounded on itself, too.
    collective::Wire wire = collective::Wire::kFloat32;
  };
  TableRows(std::vector<RowTable> tables, const Options& options);

  const std::vector<RowTable>& tables() const { return tables_; }
  // Of an epoch.
  void Enter(const collective::Place& place) { place_ = place; }
  // How many numbers counts are.
  size_t counts() const { return static_cast<size_t>(place_.ranks) * tables_.size(); }

  void BeginStep();
  // `own`: by table, ascending, each once. `counts` become zero, but for this rank's.
  void Count(std::span<const Ids> own, std::span<float> counts);
  // The sums of all ranks' counts have come.
  absl::Status Decide(std::span<const float> counts);
  // Whether some go by rows. One rank alone exchanges nothing of tables.
  bool any() const { return elements_ > 0; }
  // Of the words of all ranks.
  collective::Plan PlanRows(size_t chunk) const;
  // This rank's among them, as PlanRows wants them.
  std::span<float> Pack(std::span<const float> gradients);
  // All have come: the gradients of tables that go by rows are the means of all ranks.
  absl::Status Add(std::span<float> gradients);
  // Where those lie that go whole, ascending. From now on they may hold any sums.
  std::vector<collective::Part> BeginWhole();

  Holds holds(size_t table) const { return holds_[table]; }
  // Of kUnited: until Add of the next step.
  Ids united(size_t table) const { return united_[table]; }

 private:
  size_t CountOf(int rank, size_t table) const {
    return counts_[static_cast<size_t>(rank) * tables_.size() + table];
  }
  bool PaysByRows(size_t table) const;
  // Of so many numbers.
  size_t WordsOf(size_t values) const;
  void TakeWords();
  absl::Status Check(int rank, size_t table, Ids ids) const;
  void AddTable(size_t table, float* gradient);

  const std::vector<RowTable> tables_;
  const Options options_;
  collective::Place place_;
  std::vector<Ids> own_;
  std::vector<size_t> counts_;  // By rank and table.
  std::vector<bool> by_rows_;
  std::vector<size_t> sizes_;   // Words of each rank.
  size_t elements_ = 0;         // Of all of them.
  std::vector<float> words_;
  // Of all ranks, as in the words.
  std::vector<int32_t> ids_;
  std::vector<Ids> lists_;            // By rank and table; none of those that go whole.
  std::vector<const std::byte*> values_;  // By rank: what is to be added next.
  std::vector<Holds> holds_;
  std::vector<std::vector<int32_t>> united_;
};

}  // namespace taas

#endif  // TRAINER_RING_TABLE_ROWS_H_
