// Gzip: streaming decompression of a file and compression with one result for one input. What
// zlib frames in its own way is read, too, by who says that it is.
//
// Ownership: GzipReader borrows the FileSystem and owns its open file. Threads: one at a time.
// Errors: the FileSystem's; DataLoss for a file that is not gzip, damaged or cut short; each names
// the file, and what it is instead where that can be seen.
//
//   ASSIGN_OR_RETURN(auto reader, GzipReader::Open(files, "train-images.gz"));
//   ASSIGN_OR_RETURN(const size_t got, reader->Read(out));  // Fewer than asked only at the end.

#ifndef TRAINER_DATA_GZIP_H_
#define TRAINER_DATA_GZIP_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/file_system.h"

namespace taas {

enum class Compression { kAuto, kNone, kGzip, kZlib };

// By its name, "….gz".
bool ClaimsGzip(std::string_view path);

// Reads a gzip file of any number of members; a file that does not claim to be gzip by its name
// ("….gz") may also be plain and is then read as it is. That is `kAuto`; the others know. A file
// of no bytes holds nothing, whatever it claims.
class GzipReader {
 public:
  static absl::StatusOr<std::unique_ptr<GzipReader>> Open(
      FileSystem& files, std::string path, Compression compression = Compression::kAuto);
  ~GzipReader();

  absl::StatusOr<size_t> Read(std::span<uint8_t> out);
  // Bytes of the file as it lies on the disk.
  uint64_t file_size() const { return file_size_; }
  bool is_plain() const { return framing_ == nullptr; }
  // "gzip", "zlib" or "not compressed".
  const char* framing() const { return is_plain() ? "not compressed" : framing_; }

 private:
  struct Stream;
  GzipReader(std::unique_ptr<RandomReadFile> file, std::string path, uint64_t size);
  void Begin(const char* framing, int window);
  absl::Status Refill();
  absl::Status EndMember();

  const std::unique_ptr<RandomReadFile> file_;
  const std::string path_;
  const uint64_t file_size_;
  uint64_t next_ = 0;  // Offset of the next byte to read from the file.
  std::vector<uint8_t> input_;
  const char* framing_ = nullptr;  // Null of a plain file.
  std::unique_ptr<Stream> stream_;  // None of a plain file.
  bool ended_ = false;
};

// Compresses a text that comes in parts, into one member.
class GzipEncoder {
 public:
  GzipEncoder();
  ~GzipEncoder();

  // Appends to `out` what there is to write so far; that may be nothing.
  void Add(std::string_view part, std::string* out);
  // Appends the rest. No more parts may follow.
  void Finish(std::string* out);

 private:
  struct Stream;
  void Run(std::string_view part, bool finish, std::string* out);

  const std::unique_ptr<Stream> stream_;
};

// No name and no time in the header: the same text gives the same bytes on every day.
std::string GzipCompress(std::string_view text);
// The whole file in memory.
absl::StatusOr<std::string> GunzipFile(FileSystem& files, const std::string& path);

}  // namespace taas

#endif  // TRAINER_DATA_GZIP_H_
