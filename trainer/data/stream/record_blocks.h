// Blocks of the records of TFRecord files: what record_data.h reads whole, in parts.
//
// The files are plain. A block is read in one piece per file, its checksums are checked, and its
// records become a Dataset as there.
//
// Ownership: borrows the FileSystem; copies feature columns. Threads: as BlockSource. Errors: those of record_index.h and
// example_parser.h; DataLoss also for a file that is not as it was when the training began.
//
//   ASSIGN_OR_RETURN(const auto blocks, RecordBlocks::Open(files, paths, options));

#ifndef TRAINER_DATA_STREAM_RECORD_BLOCKS_H_
#define TRAINER_DATA_STREAM_RECORD_BLOCKS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/data/columns/feature_columns.h"
#include "trainer/data/record_data.h"
#include "trainer/data/stream/block_source.h"
#include "trainer/data/stream/record_index.h"

namespace taas {

class RecordBlocks : public BlockSource {
 public:
  struct Options {
    // `classes` is there unless the label is a target. What does not fit into memory is not read
    // to count them.
    RecordDataOptions data;
    int64_t block_examples = 1;
    int threads = 1;  // Which look at the files together, at the start.
  };
  static absl::StatusOr<std::unique_ptr<RecordBlocks>> Open(FileSystem& files,
                                                            std::vector<std::string> paths,
                                                            Options options);

  int64_t examples() const override { return index_.examples; }
  int64_t block_examples() const override { return options_.block_examples; }
  absl::StatusOr<Dataset> Load(int64_t block) const override;

  int64_t skipped() const { return index_.skipped; }

 private:
  class Reader;
  RecordBlocks(FileSystem& files, std::vector<std::string> paths, Options options,
               RecordIndex index);

  FileSystem& files_;
  const std::vector<std::string> paths_;
  const std::optional<FeatureColumns> columns_;  // What options_ points to.
  const Options options_;
  const RecordIndex index_;
};

}  // namespace taas

#endif  // TRAINER_DATA_STREAM_RECORD_BLOCKS_H_
