#include "trainer/data/stream/record_index.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "operator/base/status.h"
#include "trainer/data/empty_files.h"
#include "trainer/data/gzip.h"
#include "trainer/data/record_file.h"
#include "trainer/formats/record_frame.h"
#include "trainer/loops/parallel.h"

namespace taas {
namespace {

// A page: of small records it has many heads, of large ones more would be read in vain.
constexpr size_t kHeadsBytes = 4096;

struct Record {
  int64_t number = 0;
  uint64_t offset = 0;
};

struct FileIndex {
  std::vector<Record> records;  // Without those that are skipped.
  uint64_t end = 0;
  int64_t skipped = 0;
};

absl::Status Compressed(const std::string& path) {
  return absl::InvalidArgumentError(
      "read " + path +
      ": it is compressed, and data.streaming reads parts of plain files; unpack it with "
      "taas-trainer data convert --from tfrecord --to tfrecord " + path + " TARGET");
}

// Reads the heads of one file, each where the one before it says.
class HeadReader {
 public:
  HeadReader(const std::string& path, const RandomReadFile& file, uint64_t size)
      : path_(path), file_(file), size_(size) {}

  absl::StatusOr<FileIndex> Run() {
    FileIndex index;
    while (offset_ < size_) {
      ASSIGN_OR_RETURN(const uint64_t length, Length());
      index.records.push_back({record_++, offset_});
      offset_ += kRecordHeadBytes + length + kRecordFootBytes;
    }
    index.end = offset_;
    return index;
  }

 private:
  absl::StatusOr<uint64_t> Length() {
    ASSIGN_OR_RETURN(const char* const head, Head());
    const std::string_view bytes(head, page_bytes_ - (offset_ - page_offset_));
    ASSIGN_OR_RETURN(const uint64_t length, place().LengthOf(bytes));
    const uint64_t want = kRecordHeadBytes + length + kRecordFootBytes;
    if (want > size_ - offset_) return CutShort(want);
    return length;
  }

  absl::StatusOr<const char*> Head() {
    if (size_ - offset_ < kRecordHeadBytes) return CutShort(kRecordHeadBytes);
    if (offset_ < page_offset_ || offset_ + kRecordHeadBytes > page_offset_ + page_bytes_) {
      page_offset_ = offset_;
      ASSIGN_OR_RETURN(page_bytes_, file_.ReadAt(offset_, kHeadsBytes, page_));
      if (page_bytes_ < kRecordHeadBytes) return CutShort(kRecordHeadBytes);
    }
    return page_ + (offset_ - page_offset_);
  }

  RecordPlace place() const { return {path_, record_, offset_}; }
  absl::Status CutShort(uint64_t want) const { return place().CutShort(size_ - offset_, want); }

  const std::string& path_;
  const RandomReadFile& file_;
  const uint64_t size_;
  uint64_t offset_ = 0;
  int64_t record_ = 0;
  uint64_t page_offset_ = 0;
  size_t page_bytes_ = 0;
  char page_[kHeadsBytes];
};

// A shard that is packed may still be empty, and then nothing of it is read.
absl::StatusOr<FileIndex> IndexPacked(FileSystem& files, const std::string& path) {
  const auto reader = RecordReader::Open(files, path, {});
  if (!reader.ok()) return reader.status();
  const auto record = (*reader)->Next();
  if (!record.ok() && !absl::IsDataLoss(record.status())) return record.status();
  if (record.ok() && !*record) return FileIndex();
  return Compressed(path);
}

absl::StatusOr<FileIndex> IndexHeads(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, files.OpenRead(path));
  ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  char first[kRecordHeadBytes];
  ASSIGN_OR_RETURN(const size_t got, file->ReadAt(0, sizeof(first), first));
  const Compression compression = CompressionOf({first, got});
  if (compression == Compression::kGzip || compression == Compression::kZlib) {
    return IndexPacked(files, path);
  }
  return HeadReader(path, *file, size).Run();
}

absl::StatusOr<FileIndex> IndexGoodRecords(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const auto reader, RecordReader::Open(files, path, {.skip_bad = true}));
  if (!reader->is_plain()) return IndexPacked(files, path);
  FileIndex index;
  for (;;) {
    ASSIGN_OR_RETURN(const std::optional<std::string_view> record, reader->Next());
    if (!record) break;
    index.records.push_back({reader->record(), reader->offset()});
    index.end = reader->offset() + kRecordHeadBytes + record->size() + kRecordFootBytes;
  }
  index.skipped = reader->skipped();
  return index;
}

}  // namespace

absl::StatusOr<RecordIndex> IndexRecords(FileSystem& files, const std::vector<std::string>& paths,
                                         const RecordIndexOptions& options) {
  std::vector<absl::StatusOr<FileIndex>> parts(paths.size(), FileIndex());
  ParallelFor(options.threads, std::ssize(paths), [&](int64_t i) {
    const std::string& path = paths[static_cast<size_t>(i)];
    parts[static_cast<size_t>(i)] =
        options.skip_bad ? IndexGoodRecords(files, path) : IndexHeads(files, path);
  });
  RecordIndex index;
  EmptyFiles empty;
  for (size_t file = 0; file < paths.size(); ++file) {
    ASSIGN_OR_RETURN(const FileIndex part, std::move(parts[file]));
    if (part.records.empty() && part.skipped == 0) empty.Add(paths[file]);
    for (const Record& record : part.records) {
      if (index.examples++ % options.block_examples > 0) continue;
      index.blocks.push_back({file, record.number, record.offset});
    }
    index.ends.push_back(part.end);
    index.skipped += part.skipped;
  }
  RETURN_IF_ERROR(empty.Tell(paths.size()));
  if (index.examples == 0) {
    return absl::InvalidArgumentError("read " + paths[0] + ": all records are damaged");
  }
  return index;
}

}  // namespace taas
