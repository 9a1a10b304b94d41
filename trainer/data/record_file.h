// Files of records (TFRecord), read and written: plain or compressed as a whole with gzip; read
// also with zlib.
//
// The format is that of trainer/formats/record_frame.h. Both checksums of each record are checked.
// A record lies in the reader's buffer, so a small one costs no allocation.
//
// Ownership: both borrow the FileSystem and own their open file. Threads: one at a time. Errors:
// the FileSystem's; DataLoss for a damaged or truncated file; ResourceExhausted for a record of
// more than kRecordBytesMax. Each names the file, the record (counted from 0) and its offset, which
// is one of the text if the file is compressed.
//
//   ASSIGN_OR_RETURN(auto reader, RecordReader::Open(files, "train.tfrecord", {}));
//   for (;;) {
//     ASSIGN_OR_RETURN(const std::optional<std::string_view> record, reader->Next());
//     if (!record) break;
//   }

#ifndef TRAINER_DATA_RECORD_FILE_H_
#define TRAINER_DATA_RECORD_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/data/gzip.h"

namespace taas {

// What Protocol Buffers take as one message.
inline constexpr uint64_t kRecordBytesMax = INT32_MAX;

// A record and what is said about it, by whoever reads records. Borrows the path.
struct RecordPlace {
  std::string_view path;
  int64_t record = 0;   // From 0.
  uint64_t offset = 0;  // Of its head.
  uint64_t bytes_max = kRecordBytesMax;

  // "read PATH: record 3 at offset 120".
  std::string Where() const;
  // DataLoss.
  absl::Status Bad(const std::string& why) const;
  // The file ends in the middle of it.
  absl::Status CutShort(uint64_t have, uint64_t want) const;
  // The length that its head says, the first kRecordHeadBytes of `bytes`, or what is wrong with
  // that. `packed`: they are of what a compressed file holds.
  absl::StatusOr<uint64_t> LengthOf(std::string_view bytes, bool packed = false) const;
};

// How a file of records is compressed, by its first bytes: kNone of what begins with a record, and
// kAuto where they do not tell. A plain file may begin as gzip does, with a record of 0x8b1f bytes;
// its length has a checksum, which gzip's first bytes match once in 2^32 files.
Compression CompressionOf(std::string_view first);

class RecordReader {
 public:
  struct Options {
    Compression compression = Compression::kAuto;
    // A record whose data has a wrong checksum, or a last one that is cut short, is passed over and
    // counted instead of being an error. A length with a wrong checksum is an error in any case:
    // what follows it cannot be found, and may be all of the data.
    bool skip_bad = false;
    // A longer one is ResourceExhausted. Who only looks at records need not take 2 GiB for one.
    uint64_t record_bytes_max = kRecordBytesMax;
  };
  static absl::StatusOr<std::unique_ptr<RecordReader>> Open(FileSystem& files, std::string path,
                                                            Options options);

  // Valid until the next call; nothing at the end. After an error there is no next record.
  absl::StatusOr<std::optional<std::string_view>> Next();

  // Of the record that Next gave last.
  int64_t record() const { return record_; }
  uint64_t offset() const { return record_offset_; }
  // The beginning of what is said about it.
  std::string Where() const { return place().Where(); }
  int64_t skipped() const { return skipped_; }
  bool is_plain() const { return file_->is_plain(); }
  const char* framing() const { return file_->framing(); }

 private:
  RecordReader(std::unique_ptr<GzipReader> file, std::string path, Options options);
  // Bytes that are in the buffer, at least `need` unless the file ends before.
  absl::StatusOr<uint64_t> Fill(uint64_t need);
  void Begin();
  RecordPlace place() const { return {path_, record_, record_offset_, options_.record_bytes_max}; }
  // At the end of the file, in the middle of a record.
  absl::StatusOr<std::optional<std::string_view>> CutShort(uint64_t have, uint64_t want);

  std::unique_ptr<GzipReader> file_;
  const std::string path_;
  const Options options_;
  std::string buffer_;
  size_t begin_ = 0;  // The bytes of the buffer that are not used yet.
  size_t end_ = 0;
  uint64_t offset_ = 0;  // Of begin_ in the text.
  int64_t record_ = -1;
  uint64_t record_offset_ = 0;
  int64_t skipped_ = 0;
};

class RecordWriter {
 public:
  // `kAuto` compresses if the name ends with ".gz". The file appears whole, when it is closed.
  static absl::StatusOr<std::unique_ptr<RecordWriter>> Open(
      FileSystem& files, std::string path, Compression compression = Compression::kAuto);
  // Without a Close nothing is left.
  ~RecordWriter();

  absl::Status Append(std::string_view data);
  absl::Status Close();

 private:
  RecordWriter(FileSystem& files, std::string path, std::unique_ptr<WritableFile> file, bool gzip);
  absl::Status Flush(bool finish);

  FileSystem& files_;
  const std::string path_;
  std::unique_ptr<WritableFile> file_;
  std::unique_ptr<GzipEncoder> gzip_;  // None of a plain file.
  std::string text_;                   // Not compressed yet.
};

}  // namespace taas

#endif  // TRAINER_DATA_RECORD_FILE_H_
