#include "trainer/data/stream/streamed_records.h"

#include <utility>

#include "operator/base/log.h"
#include "operator/base/status.h"
#include "third_party/json.h"
#include "trainer/config/spec_fields.h"
#include "trainer/data/rows.h"
#include "trainer/data/stream/record_blocks.h"

namespace taas {
namespace {

// Of what is in memory, the next window included, however much data there is.
absl::StatusOr<uint64_t> BytesInMemory(const Dataset& first, const StreamingOptions& streaming) {
  const uint64_t each = first.bytes() / static_cast<uint64_t>(first.examples());
  const uint64_t bytes = 2 * static_cast<uint64_t>(streaming.shuffle_buffer) * each;
  if (bytes <= kDataBytesMax) return bytes;
  return absl::ResourceExhaustedError(
      "data.streaming.shuffleBuffer: twice " + std::to_string(streaming.shuffle_buffer) +
      " examples of " + std::to_string(each) + " bytes are in memory, more than " +
      std::to_string(kDataBytesMax >> 30) + " GiB; a smaller buffer mixes fewer examples");
}

}  // namespace

absl::StatusOr<StreamedRecords> OpenStreamedRecords(FileSystem& files,
                                                    const std::vector<std::string>& paths,
                                                    const nlohmann::json& streaming,
                                                    const RecordDataOptions& options) {
  ASSIGN_OR_RETURN(const StreamingOptions parsed, ParseStreaming(streaming));
  const Compression compression = options.reader.compression;
  if (compression == Compression::kGzip || compression == Compression::kZlib) {
    return InvalidField("data.tfrecord.compression",
                        "of data that is streamed must be none: parts of it are read; unpack the "
                        "files with taas-trainer data convert --from tfrecord --to tfrecord");
  }
  if (!options.classes && HasWholeLabel(options)) {
    return InvalidField("data.classes",
                        "is missing: what is streamed is not read through to count them");
  }
  ASSIGN_OR_RETURN(auto blocks,
                   RecordBlocks::Open(files, paths,
                                      {.data = options,
                                       .block_examples = parsed.blocks().examples,
                                       .threads = static_cast<int>(parsed.readers)}));
  ASSIGN_OR_RETURN(Dataset first, blocks->Load(0));
  ASSIGN_OR_RETURN(const uint64_t bytes, BytesInMemory(first, parsed));
  Log(LogLevel::kInfo, "data is streamed",
      {{"examples", std::to_string(blocks->examples())},
       {"blocks", std::to_string(blocks->blocks())},
       {"mostInMemoryMB", std::to_string((bytes >> 20) + 1)}});
  const int64_t skipped = blocks->skipped();
  return StreamedRecords{std::move(first), std::move(blocks), parsed, skipped};
}

}  // namespace taas
