#include "localkube/api/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "operator/base/file_system.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

absl::Status WriteAll(int file, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoToStatus(errno, "write", path);
    text.remove_prefix(static_cast<size_t>(written));
  }
  if (fsync(file) != 0) return ErrnoToStatus(errno, "fsync", path);
  return absl::OkStatus();
}

}  // namespace

absl::Status MakePrivateDir(const std::string& dir) {
  PosixFileSystem files;
  RETURN_IF_ERROR(files.MakeDirs(DirName(dir)));
  if (mkdir(dir.c_str(), 0700) == 0) return absl::OkStatus();
  if (errno != EEXIST) return ErrnoToStatus(errno, "mkdir", dir);
  if (chmod(dir.c_str(), 0700) != 0) return ErrnoToStatus(errno, "chmod", dir);
  return absl::OkStatus();
}

absl::Status WritePrivateFile(const std::string& path, std::string_view text) {
  const std::string temporary = path + "." + std::to_string(getpid()) + ".tmp";
  unlink(temporary.c_str());
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return ErrnoToStatus(errno, "open", temporary);
  absl::Status status = WriteAll(file, temporary, text);
  close(file);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = ErrnoToStatus(errno, "rename", path);
  }
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  PosixFileSystem files;
  return files.SyncDir(DirName(path));
}

}  // namespace taas::localkube
