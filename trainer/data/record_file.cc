#include "trainer/data/record_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "operator/base/status.h"
#include "trainer/formats/file_kind.h"
#include "trainer/formats/record_frame.h"

namespace taas {
namespace {

// Fits into the second cache of a core, where the checksum finds what was just read.
constexpr size_t kReadBytes = 256 << 10;
// A length may lie, also one with a right checksum: the buffer grows with the bytes that came.
constexpr size_t kGrowth = 2;
constexpr size_t kWriteBytes = 1 << 20;

std::string TemporaryOf(const std::string& path) { return path + ".tmp"; }

// What the file begins with, so far as it says how it is compressed.
absl::StatusOr<Compression> Detect(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, files.OpenRead(path));
  char first[kRecordHeadBytes];
  ASSIGN_OR_RETURN(const size_t got, file->ReadAt(0, sizeof(first), first));
  return CompressionOf({first, got});
}

}  // namespace

std::string RecordPlace::Where() const {
  return "read " + std::string(path) + ": record " + std::to_string(record) + " at offset " +
         std::to_string(offset);
}

absl::Status RecordPlace::Bad(const std::string& why) const {
  return absl::DataLossError(Where() + ": " + why);
}

absl::Status RecordPlace::CutShort(uint64_t have, uint64_t want) const {
  return Bad("the file is truncated: the record has " + std::to_string(have) + " of its " +
             std::to_string(want) + " bytes");
}

absl::StatusOr<uint64_t> RecordPlace::LengthOf(std::string_view bytes, bool packed) const {
  const std::optional<uint64_t> length = RecordLength(bytes.data());
  if (!length && record > 0) {
    return Bad("the checksum of its length is wrong, so no more can be found");
  }
  if (!length) {
    return Bad("not a file of records: the checksum of its length is wrong" +
               KindNote(bytes, FileKind::kRecords, packed));
  }
  if (*length > bytes_max) {
    return absl::ResourceExhaustedError(Where() + ": it has " + std::to_string(*length) +
                                        " bytes, more than " + std::to_string(bytes_max));
  }
  return *length;
}

Compression CompressionOf(std::string_view first) {
  switch (KindOf(first).kind) {
    case FileKind::kRecords: return Compression::kNone;
    case FileKind::kGzip: return Compression::kGzip;
    case FileKind::kZlib: return Compression::kZlib;
    default: return Compression::kAuto;
  }
}

RecordReader::RecordReader(std::unique_ptr<GzipReader> file, std::string path, Options options)
    : file_(std::move(file)),
      path_(std::move(path)),
      options_(options),
      buffer_(kReadBytes, '\0') {}

absl::StatusOr<std::unique_ptr<RecordReader>> RecordReader::Open(FileSystem& files,
                                                                 std::string path,
                                                                 Options options) {
  Compression compression = options.compression;
  if (compression == Compression::kAuto) {
    ASSIGN_OR_RETURN(compression, Detect(files, path));
  }
  ASSIGN_OR_RETURN(auto file, GzipReader::Open(files, path, compression));
  return std::unique_ptr<RecordReader>(
      new RecordReader(std::move(file), std::move(path), options));
}

absl::StatusOr<uint64_t> RecordReader::Fill(uint64_t need) {
  if (end_ - begin_ >= need) return end_ - begin_;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  while (end_ < need) {
    if (end_ == buffer_.size()) {
      buffer_.resize(std::min<size_t>(buffer_.size() * kGrowth, need));
    }
    const size_t room = buffer_.size() - end_;
    const auto got = file_->Read({reinterpret_cast<uint8_t*>(buffer_.data()) + end_, room});
    // The file says what is wrong with it, and its name.
    if (!got.ok()) {
      return absl::Status(got.status().code(),
                          std::string(got.status().message()) + ", in record " +
                              std::to_string(record_) + " at offset " +
                              std::to_string(record_offset_));
    }
    end_ += *got;
    if (*got < room) break;
  }
  return end_;
}

void RecordReader::Begin() {
  ++record_;
  record_offset_ = offset_;
}

absl::StatusOr<std::optional<std::string_view>> RecordReader::CutShort(uint64_t have,
                                                                       uint64_t want) {
  if (!options_.skip_bad) return place().CutShort(have, want);
  ++skipped_;
  begin_ = end_;
  return std::optional<std::string_view>();
}

absl::StatusOr<std::optional<std::string_view>> RecordReader::Next() {
  for (;;) {
    Begin();
    ASSIGN_OR_RETURN(uint64_t have, Fill(kRecordHeadBytes));
    if (have == 0) return std::optional<std::string_view>();
    if (have < kRecordHeadBytes) return CutShort(have, kRecordHeadBytes);
    const std::string_view bytes(buffer_.data() + begin_, have);
    ASSIGN_OR_RETURN(const uint64_t length, place().LengthOf(bytes, !is_plain()));
    const uint64_t want = kRecordHeadBytes + length + kRecordFootBytes;
    ASSIGN_OR_RETURN(have, Fill(want));
    if (have < want) return CutShort(have, want);
    const std::string_view data(buffer_.data() + begin_ + kRecordHeadBytes, length);
    begin_ += want;
    offset_ += want;
    if (RecordDataIsWhole(data, data.data() + length)) {
      return std::optional<std::string_view>(data);
    }
    if (!options_.skip_bad) return place().Bad("the checksum of its data is wrong");
    ++skipped_;
  }
}

RecordWriter::RecordWriter(FileSystem& files, std::string path, std::unique_ptr<WritableFile> file,
                           bool gzip)
    : files_(files), path_(std::move(path)), file_(std::move(file)) {
  if (gzip) gzip_ = std::make_unique<GzipEncoder>();
}

absl::StatusOr<std::unique_ptr<RecordWriter>> RecordWriter::Open(FileSystem& files,
                                                                 std::string path,
                                                                 Compression compression) {
  ASSIGN_OR_RETURN(auto file, files.OpenWrite(TemporaryOf(path)));
  const bool gzip = compression == Compression::kGzip ||
                    (compression == Compression::kAuto && ClaimsGzip(path));
  return std::unique_ptr<RecordWriter>(
      new RecordWriter(files, std::move(path), std::move(file), gzip));
}

RecordWriter::~RecordWriter() {
  if (file_ != nullptr) files_.Remove(TemporaryOf(path_)).IgnoreError();
}

absl::Status RecordWriter::Append(std::string_view data) {
  AppendRecord(data, &text_);
  return text_.size() < kWriteBytes ? absl::OkStatus() : Flush(false);
}

absl::Status RecordWriter::Flush(bool finish) {
  if (gzip_ != nullptr) {
    std::string packed;
    gzip_->Add(text_, &packed);
    if (finish) gzip_->Finish(&packed);
    text_ = std::move(packed);
  }
  RETURN_IF_ERROR(file_->Append(text_));
  text_.clear();
  return absl::OkStatus();
}

absl::Status RecordWriter::Close() {
  RETURN_IF_ERROR(Flush(true));
  RETURN_IF_ERROR(file_->Sync());
  RETURN_IF_ERROR(file_->Close());
  RETURN_IF_ERROR(files_.Rename(TemporaryOf(path_), path_));
  file_ = nullptr;
  return files_.SyncDir(DirName(path_));
}

}  // namespace taas
