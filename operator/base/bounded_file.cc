#include "operator/base/bounded_file.h"

#include <algorithm>
#include <memory>

#include "operator/base/status.h"

namespace taas {

absl::Status TooLong(const std::string& path, size_t bytes_max) {
  const bool mebibytes = bytes_max % (1 << 20) == 0;
  const std::string limit =
      mebibytes ? std::to_string(bytes_max >> 20) + " MiB" : std::to_string(bytes_max) + " bytes";
  return absl::InvalidArgumentError("read " + path + ": longer than " + limit +
                                    ", which is the most that is read here; is it the right file?");
}

absl::StatusOr<std::string> ReadBounded(FileSystem& files, const std::string& path,
                                        size_t bytes_max) {
  ASSIGN_OR_RETURN(const std::unique_ptr<RandomReadFile> file, files.OpenRead(path));
  // In pieces: what a file says of its length need not be so, and files of /proc say 0.
  constexpr size_t kPiece = 64 << 10;
  std::string text;
  while (true) {
    const size_t have = text.size();
    const size_t wanted = std::min(kPiece, bytes_max + 1 - have);
    text.resize(have + wanted);
    ASSIGN_OR_RETURN(const size_t got, file->ReadAt(have, wanted, text.data() + have));
    text.resize(have + got);
    if (text.size() > bytes_max) return TooLong(path, bytes_max);
    if (got < wanted) return text;
  }
}

}  // namespace taas
