#include "cli/read_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "operator/base/bounded_file.h"
#include "operator/base/file_system.h"

namespace taas {
namespace {

constexpr size_t kReadBytes = 64 << 10;

// More than any manifest has (kMaxManifestBytes), and nothing to a machine.
constexpr size_t kInputBytesMax = 64 << 20;

absl::StatusOr<std::string> ReadToEnd(int fd, const std::string& what) {
  std::string text;
  std::array<char, kReadBytes> buffer;
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got == 0) return text;
    if (got > 0) {
      text.append(buffer.data(), static_cast<size_t>(got));
      if (text.size() > kInputBytesMax) return TooLong(what, kInputBytesMax);
    } else if (errno != EINTR) {
      return ErrnoToStatus(errno, "read", what);
    }
  }
}

}  // namespace

absl::StatusOr<std::string> ReadInput(const std::string& path) {
  if (path == "-") return ReadToEnd(STDIN_FILENO, "standard input");
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ErrnoToStatus(errno, "open", path);
  absl::StatusOr<std::string> text = ReadToEnd(fd, path);
  ::close(fd);
  return text;
}

}  // namespace taas
