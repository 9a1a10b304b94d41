#include "localkube/node/log_pin.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace taas::localkube {
namespace {

int OpenDir(const std::string& dir) {
  return ::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

}  // namespace

LogPin::LogPin(const std::string& pod_dir) : fd_(OpenDir(pod_dir)) {
  // Not to wait: whoever holds the other lock is about to let go of it, or of the directory.
  if (fd_ >= 0 && ::flock(fd_, LOCK_SH | LOCK_NB) != 0) Release();
}

void LogPin::Release() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

bool IsBeingRead(const std::string& pod_dir) {
  const int fd = OpenDir(pod_dir);
  if (fd < 0) return false;
  const bool read = ::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return read;
}

}  // namespace taas::localkube
