// Where in files of records (TFRecord) each block of examples begins.
//
// The heads of all records are read and their checksums checked, not the data: some bytes of each
// record, so that a training on large examples starts soon. With `skip_bad` all is read, since
// whether a record counts is in its data.
//
// Ownership: a value. Threads: any; several files are read at the same time. Errors: DataLoss for a
// file that is truncated or damaged, InvalidArgument for one that is compressed, or if all are
// empty, ResourceExhausted for a record of more than kRecordBytesMax, those of the FileSystem; each
// names the file, and the record.
//
//   ASSIGN_OR_RETURN(const RecordIndex index, IndexRecords(files, paths, {.block_examples = 100}));

#ifndef TRAINER_DATA_STREAM_RECORD_INDEX_H_
#define TRAINER_DATA_STREAM_RECORD_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"

namespace taas {

struct RecordIndex {
  struct Place {
    size_t file = 0;
    int64_t record = 0;   // Counted from 0 in the file, damaged ones too.
    uint64_t offset = 0;  // Of its head.
  };
  std::vector<Place> blocks;   // The first record of each.
  std::vector<uint64_t> ends;  // Of each file: behind its last good record.
  int64_t examples = 0;
  int64_t skipped = 0;  // Damaged records that do not count.
};

struct RecordIndexOptions {
  int64_t block_examples = 1;
  bool skip_bad = false;
  int threads = 1;
};

// The files in their order; at least one. Those without a record count for nothing.
absl::StatusOr<RecordIndex> IndexRecords(FileSystem& files, const std::vector<std::string>& paths,
                                         const RecordIndexOptions& options);

}  // namespace taas

#endif  // TRAINER_DATA_STREAM_RECORD_INDEX_H_
