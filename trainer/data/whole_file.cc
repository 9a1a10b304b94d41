#include "trainer/data/whole_file.h"

#include "operator/base/status.h"
#include "trainer/data/gzip.h"
#include "trainer/data/rows.h"

namespace taas {
namespace {

constexpr size_t kReadBytes = 1 << 20;

absl::Status TooLong(const std::string& path) {
  return absl::ResourceExhaustedError(
      "read " + path + ": it has more than " + std::to_string(kDataBytesMax >> 30) +
      " GiB, which are not read into memory; of TFRecord files data.streaming reads parts");
}

}  // namespace

absl::StatusOr<std::vector<uint8_t>> ReadWholeFile(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const auto reader, GzipReader::Open(files, path));
  std::vector<uint8_t> bytes;
  if (reader->is_plain()) {
    if (reader->file_size() > kDataBytesMax) return TooLong(path);
    bytes.reserve(reader->file_size() + kReadBytes);
  }
  for (size_t size = 0;;) {
    bytes.resize(size + kReadBytes);
    ASSIGN_OR_RETURN(const size_t got, reader->Read({bytes.data() + size, kReadBytes}));
    size += got;
    if (size > kDataBytesMax) return TooLong(path);
    if (got == kReadBytes) continue;
    bytes.resize(size);
    return bytes;
  }
}

}  // namespace taas
