#include "trainer/data/foreign_file.h"

#include <cstdint>
#include <span>

#include "trainer/data/gzip.h"

namespace taas {

absl::Status NameForeign(FileSystem& files, const std::string& path, FileKind wanted,
                         absl::Status status) {
  if (!absl::IsDataLoss(status) && !absl::IsInvalidArgument(status)) return status;
  const auto reader = GzipReader::Open(files, path);
  if (!reader.ok()) return status;  // It says itself what the file is.
  char first[kKindBytes];
  const auto got = (*reader)->Read({reinterpret_cast<uint8_t*>(first), sizeof(first)});
  if (!got.ok()) return status;
  const std::string note = KindNote({first, *got}, wanted, !(*reader)->is_plain());
  return absl::Status(status.code(), std::string(status.message()) + note);
}

}  // namespace taas
