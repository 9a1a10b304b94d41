// Tables of numbers as text (CSV): one example a line, its label in one of the columns. Plain or
// gzip; lines end with LF or CRLF.
//
// Source of the format: RFC 4180; a value in quotes may hold the delimiter and doubled quotes, but
// no end of a line. Empty lines are passed over. Numbers are decimal; nan and inf are none,
// nor is one that 32 bits do not hold.
//
// Ownership: the caller owns the result. Threads: any. Errors: the FileSystem's; InvalidArgument
// for a missing value, one that is no number, a line of another length, a column that is not there;
// ResourceExhausted for a line of more than kCsvLineBytesMax. Each names the file, the line (from
// 1) and, where there is one, the column.
//
//   ASSIGN_OR_RETURN(Dataset set, ReadCsv(files, {"iris.csv"}, {.label_column = "species"}));

#ifndef TRAINER_DATA_CSV_H_
#define TRAINER_DATA_CSV_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/data/dataset.h"
#include "trainer/data/columns/feature_columns.h"
#include "trainer/data/rows.h"

namespace taas {

// Room for the 65,536 features that an example may have, and far from what fills a memory.
inline constexpr size_t kCsvLineBytesMax = 4 << 20;

struct CsvOptions {
  // The first line of each file names the columns; without, they are called by their numbers, "0",
  // "1", …
  bool header = true;
  char delimiter = ',';
  // The features in their order; empty: all columns of the first file but that of the label.
  std::vector<std::string> columns;
  std::string label_column;
  ClassCount classes;
  // Where they are given, the features are these columns, and `columns` is empty; a value that is
  // empty is missing.
  std::shared_ptr<const FeatureColumns> feature_columns;
  bool ids = false;  // Without feature columns: the features are whole numbers, ids.
};

// All files, in their order; at least one. Those without examples count for nothing.
absl::StatusOr<Dataset> ReadCsv(FileSystem& files, const std::vector<std::string>& paths,
                                const CsvOptions& options);

// The values of a line without its end, quotes taken away; false if a quote is not closed. For
// `data inspect`, too.
bool SplitCsvLine(std::string_view line, char delimiter, std::vector<std::string>* out);

}  // namespace taas

#endif  // TRAINER_DATA_CSV_H_
