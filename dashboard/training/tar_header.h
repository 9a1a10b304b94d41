// The header of a file in a tar archive: ustar (POSIX.1-1988), which all programs read; sizes from
// 8 GiB on are binary, as GNU's and BSD's have them.
//
// Pure. Ownership: values. Threads: any. Errors: InvalidArgument for a name that is too long.
//
//   ASSIGN_OR_RETURN(const std::string head, TarHeader({.folder = "mnist", .name = "a.index"}));

#ifndef DASHBOARD_TRAINING_TAR_HEADER_H_
#define DASHBOARD_TRAINING_TAR_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace taas::dashboard {

// A file's bytes are filled up with zeros to whole blocks; two of zeros end the archive.
inline constexpr size_t kTarBlockBytes = 512;
inline constexpr size_t kTarEndBytes = 2 * kTarBlockBytes;

struct TarFile {
  std::string folder;  // "mnist", 155 bytes at most.
  std::string name;    // Below it: "variables/variables.index", 100 bytes at most.
  uint64_t bytes = 0;
  int64_t modified_s = 0;
};

// One block.
absl::StatusOr<std::string> TarHeader(const TarFile& file);
// What follows the file's bytes.
inline size_t TarPaddingBytes(uint64_t bytes) {
  return (kTarBlockBytes - bytes % kTarBlockBytes) % kTarBlockBytes;
}

}  // namespace taas::dashboard

#endif  // DASHBOARD_TRAINING_TAR_HEADER_H_
