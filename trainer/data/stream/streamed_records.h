// From `spec.trainer.data.streaming` to training data of TFRecord files that is not in memory.
//
// Ownership: the result borrows the FileSystem. Threads: any. Errors: InvalidArgument naming the
// field, ResourceExhausted naming it for a buffer beyond kDataBytesMax; those of record_blocks.h.
//
//   ASSIGN_OR_RETURN(StreamedRecords streamed,
//                    OpenStreamedRecords(files, paths, spec["streaming"], options));

#ifndef TRAINER_DATA_STREAM_STREAMED_RECORDS_H_
#define TRAINER_DATA_STREAM_STREAMED_RECORDS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "operator/base/file_system.h"
#include "trainer/data/dataset.h"
#include "trainer/data/record_data.h"
#include "trainer/data/stream/block_source.h"
#include "trainer/data/stream/streaming_options.h"

namespace taas {

struct StreamedRecords {
  Dataset first;  // Block.
  std::unique_ptr<BlockSource> blocks;
  StreamingOptions options;
  int64_t skipped = 0;  // Damaged records that are passed over.
};

absl::StatusOr<StreamedRecords> OpenStreamedRecords(FileSystem& files,
                                                    const std::vector<std::string>& paths,
                                                    const nlohmann::json& streaming,
                                                    const RecordDataOptions& options);

}  // namespace taas

#endif  // TRAINER_DATA_STREAM_STREAMED_RECORDS_H_
