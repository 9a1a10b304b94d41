#include "trainer/data/whole_file.h"

#include "operator/base/status.h"
#include "trainer/data/gzip.h"
#include "trainer/data/rows.h"

namespace taas {

absl::StatusOr<std::vector<uint8_t>> ReadWholeFile(FileSystem& files, const std::string& path) {
  ASSIGN_OR_RETURN(const auto reader, GzipReader::Open(files, path));
  constexpr size_t kReadBytes = 1 << 20;
  std::vector<uint8_t> bytes;
  if (reader->is_plain()) bytes.reserve(reader->file_size() + kReadBytes);
  for (size_t size = 0;;) {
    bytes.resize(size + kReadBytes);
    ASSIGN_OR_RETURN(const size_t got, reader->Read({bytes.data() + size, kReadBytes}));
    size += got;
    if (size > kDataBytesMax) {
      return absl::ResourceExhaustedError(
          "read " + path + ": it has more than " + std::to_string(kDataBytesMax >> 30) +
          " GiB, which are not read into memory; of TFRecord files data.streaming reads parts");
    }
    if (got == kReadBytes) continue;
    bytes.resize(size);
    return bytes;
  }
}

}  // namespace taas
