// A data set out of files of records (TFRecord) of tf.train.Example.
//
// One feature is the label, the others are put together, in the order of their specifications, to
// the features of a Dataset. If that is one feature that is decoded to bytes, the bytes are kept
// and scaled when a batch is gathered: to [0, 1], or as the specification says. A feature of any
// length is filled up to its shape with its default, or zeroes, scaled as its numbers are.
//
// Ownership: the caller owns the result. Threads: any. Errors: those of record_file.h,
// example_parser.h and rows.h, naming file, record and feature.
//
//   ASSIGN_OR_RETURN(RecordData data, ReadRecords(files, {"train.tfrecord"}, options));

#ifndef TRAINER_DATA_RECORD_DATA_H_
#define TRAINER_DATA_RECORD_DATA_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/data/dataset.h"
#include "trainer/data/example_parser.h"
#include "trainer/data/columns/feature_columns.h"
#include "trainer/data/record_file.h"
#include "trainer/data/rows.h"

namespace taas {

struct RecordDataOptions {
  RecordReader::Options reader;
  // Each of numbers (bytes have `raw`, but for sources of feature columns), those of any length
  // with a shape; at least one but the label.
  std::vector<FeatureSpec> features;
  // One of `features`, of fixed length. One number if it is a class; floats are targets of a
  // regression unless `classes` says otherwise.
  std::string label;
  ClassCount classes;
  // Where they are given, the features of the Dataset are these columns. Each of their
  // sources is one of `features`, of one value, which may be missing where it is VarLen; bytes are
  // texts. Features that are none's source are checked and left out.
  std::shared_ptr<const FeatureColumns> feature_columns;
  bool ids = false;  // Without feature columns: the features are whole numbers, ids.
};

// Whether the label is a whole number, and so a class unless `classes` is 0.
bool HasWholeLabel(const RecordDataOptions& options);

struct RecordData {
  Dataset set;
  int64_t skipped = 0;  // Damaged records that were passed over.
};

// All files, in their order; at least one. Those without records count for nothing.
absl::StatusOr<RecordData> ReadRecords(FileSystem& files, const std::vector<std::string>& paths,
                                       const RecordDataOptions& options);

// Records that are in memory already: `next` gives one after the other, and nothing at the end;
// `where` names the last one. `name` begins messages that are of no record.
struct RecordsInMemory {
  int64_t count;
  absl::FunctionRef<absl::StatusOr<std::optional<std::string_view>>()> next;
  absl::FunctionRef<std::string()> where;
};
absl::StatusOr<Dataset> CollectRecords(const std::string& name, const RecordsInMemory& records,
                                       const RecordDataOptions& options);

}  // namespace taas

#endif  // TRAINER_DATA_RECORD_DATA_H_
