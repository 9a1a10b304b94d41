// Reading files that a container may have put something else in place of: a link, a pipe, a device,
// terabytes of nothing.
//
// A container's processes can write where its log and its termination message are. Whoever reads
// them reads regular files only, follows no link, never waits, and takes no more than it asked for.
//
// Ownership: the caller closes what OpenRegular gives. Threads: any. Errors: those of open;
// FailedPrecondition: it is not a regular file.
//
//   ASSIGN_OR_RETURN(const int fd, OpenRegular(files.log));
//   const std::string message = ReadEnd(files.termination_log, 4096).text;

#ifndef LOCALKUBE_NODE_REGULAR_FILE_H_
#define LOCALKUBE_NODE_REGULAR_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace taas::localkube {

// A descriptor to read from.
absl::StatusOr<int> OpenRegular(const std::string& path);

struct FileEnd {
  std::string text;
  bool cut = false;  // There is more before it.
};

// The last `bytes_max` bytes; nothing, if there is no such file.
FileEnd ReadEnd(const std::string& path, size_t bytes_max);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_REGULAR_FILE_H_
