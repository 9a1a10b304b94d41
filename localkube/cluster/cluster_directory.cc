#include "localkube/cluster/cluster_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <vector>

#include "operator/base/log.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

// What a cluster's directory may hold before the cluster has written its pid.
constexpr std::array<std::string_view, 3> kFirstFiles = {"lock", "pid.tmp", "taas.log"};
// Directories whose files the cluster believes. What is in the others it has made itself since it
// made them, and nobody else can enter those.
constexpr std::array<const char*, 3> kBelieved = {"", "/api", "/dashboard"};
// A user may keep these elsewhere, by a link of her own.
constexpr std::array<std::string_view, 2> kMayBeLinks = {"pods", "volumes"};

absl::Status Refuse(const std::string& path, const std::string& why, const std::string& what) {
  return absl::FailedPreconditionError("use the cluster's directory: " + path + " " + why + "; " +
                                       what);
}

absl::Status RefuseOwner(const std::string& path, uid_t owner, uid_t user) {
  return Refuse(path,
                "belongs to the user with the number " + std::to_string(owner) +
                    ", not to " + std::to_string(user) +
                    ", who runs this: whoever made it could have chosen the cluster's token",
                "name a directory of your own with --dir, or run this as its owner");
}

absl::Status Narrow(const std::string& path, mode_t mode, mode_t taken) {
  if ((mode & taken) == 0) return absl::OkStatus();
  if (::chmod(path.c_str(), mode & 07777 & ~taken) != 0) return ErrnoToStatus(errno, "chmod", path);
  Log(LogLevel::kWarning, "others could use a part of the cluster's directory; now they cannot",
      {{"path", path}});
  return absl::OkStatus();
}

absl::Status CheckEntry(const std::string& dir, const std::string& name, uid_t user) {
  const std::string path = dir + "/" + name;
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? absl::OkStatus() : ErrnoToStatus(errno, "lstat", path);
  }
  if (info.st_uid != user) return RefuseOwner(path, info.st_uid, user);
  if (S_ISLNK(info.st_mode)) {
    const bool allowed =
        std::find(kMayBeLinks.begin(), kMayBeLinks.end(), name) != kMayBeLinks.end();
    if (allowed) return absl::OkStatus();
    return Refuse(path, "is a link", "remove it; the cluster makes its own files");
  }
  if (S_ISREG(info.st_mode) && info.st_nlink > 1) {
    return Refuse(path, "has other names elsewhere (hard links)",
                  "remove it; the cluster makes its own files");
  }
  return Narrow(path, info.st_mode, S_IWGRP | S_IWOTH);
}

}  // namespace

absl::Status CheckClusterDirectory(FileSystem& disk, const std::string& dir, uid_t user) {
  struct stat info {};
  if (::lstat(dir.c_str(), &info) != 0) return ErrnoToStatus(errno, "lstat", dir);
  if (info.st_uid != user) return RefuseOwner(dir, info.st_uid, user);
  if (S_ISLNK(info.st_mode)) {
    if (::stat(dir.c_str(), &info) != 0) return ErrnoToStatus(errno, "stat", dir);
    if (info.st_uid != user) return RefuseOwner(dir, info.st_uid, user);
  }
  // First the door, then what is behind it: after this nobody else changes anything there.
  RETURN_IF_ERROR(Narrow(dir, info.st_mode, S_IRWXG | S_IRWXO));
  for (const char* part : kBelieved) {
    const std::string path = dir + part;
    ASSIGN_OR_RETURN(const bool exists, disk.Exists(path));
    if (!exists) continue;
    ASSIGN_OR_RETURN(const std::vector<std::string> names, disk.List(path));
    for (const std::string& name : names) RETURN_IF_ERROR(CheckEntry(path, name, user));
  }
  return absl::OkStatus();
}

absl::Status MakeClusterDirectory(FileSystem& disk, const std::string& dir) {
  RETURN_IF_ERROR(disk.MakeDirs(DirName(dir))).With("make the cluster's directory");
  if (::mkdir(dir.c_str(), 0700) == 0) return CheckClusterDirectory(disk, dir, ::geteuid());
  if (errno != EEXIST) return ErrnoToStatus(errno, "make the cluster's directory", dir);
  ASSIGN_OR_RETURN(const auto names, disk.List(dir));
  const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const bool of_a_cluster = has("lock") && has("pid");
  for (const std::string& name : names) {
    if (of_a_cluster) break;
    if (std::find(kFirstFiles.begin(), kFirstFiles.end(), name) != kFirstFiles.end()) continue;
    return absl::FailedPreconditionError(
        "start a cluster in " + dir + ": it has " + name +
        " in it and is not the directory of a cluster; name a new or an empty directory");
  }
  return CheckClusterDirectory(disk, dir, ::geteuid());
}

absl::Status MakeLogFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return ErrnoToStatus(errno, "open", path);
  // Whatever the umask and an earlier version made of it.
  const int result = ::fchmod(fd, 0600);
  const int error = errno;
  ::close(fd);
  return result == 0 ? absl::OkStatus() : ErrnoToStatus(error, "chmod 0600", path);
}

std::string LockPath(const std::string& dir) { return dir + "/lock"; }
std::string PidPath(const std::string& dir) { return dir + "/pid"; }
std::string LogPath(const std::string& dir) { return dir + "/taas.log"; }

}  // namespace taas::localkube
