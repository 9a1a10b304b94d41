#include "localkube/node/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "operator/base/file_system.h"
#include "operator/base/status.h"

namespace taas::localkube {

absl::StatusOr<int> OpenRegular(const std::string& path) {
  // O_NONBLOCK: opening a pipe would wait for whoever writes to it.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return ErrnoToStatus(errno, "open", path);
  struct stat info {};
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) return fd;
  ::close(fd);
  return absl::FailedPreconditionError("open " + path + ": it is not a regular file");
}

FileEnd ReadEnd(const std::string& path, size_t bytes_max) {
  const absl::StatusOr<int> fd = OpenRegular(path);
  if (!fd.ok()) return {};
  FileEnd end;
  struct stat info {};
  if (::fstat(*fd, &info) == 0) {
    const uint64_t size = static_cast<uint64_t>(info.st_size);
    const uint64_t want = std::min<uint64_t>(size, bytes_max);
    end.cut = want < size;
    end.text.resize(want);
    size_t done = 0;
    while (done < want) {
      const ssize_t got = ::pread(*fd, end.text.data() + done, want - done,
                                  static_cast<off_t>(size - want + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<size_t>(got);
    }
    end.text.resize(done);
  }
  ::close(*fd);
  return end;
}

}  // namespace taas::localkube
