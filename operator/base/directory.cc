#include "operator/base/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "operator/base/file_system.h"
#include "operator/base/status.h"

namespace taas {
namespace {

FileIdentity FromStat(const struct stat& info) {
  constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .size = static_cast<uint64_t>(info.st_size),
          .modified_ns = info.st_mtim.tv_sec * kNanosecondsPerSecond + info.st_mtim.tv_nsec};
}

absl::Status NotRegular(const std::string& path) {
  return absl::FailedPreconditionError("read " + path + ": it is no regular file");
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

absl::StatusOr<FileIdentity> OpenFile::Identity() const {
  struct stat info {};
  if (::fstat(fd_.get(), &info) != 0) return ErrnoToStatus(errno, "stat", path_);
  return FromStat(info);
}

absl::StatusOr<size_t> OpenFile::ReadAt(uint64_t offset, size_t size, char* out) const {
  size_t done = 0;
  while (done < size) {
    const ssize_t got =
        ::pread(fd_.get(), out + done, size - done, static_cast<off_t>(offset + done));
    if (got == 0) break;
    if (got > 0) {
      done += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      return ErrnoToStatus(errno, "read", path_);
    }
  }
  return done;
}

absl::StatusOr<Directory> Directory::Open(const std::string& path, Links links) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return ErrnoToStatus(errno, "open", path);
  return Directory(Descriptor(fd), path, links);
}

absl::StatusOr<Descriptor> Directory::OpenIn(const std::string& name, int flags) const {
  const int no_links = links_ == Links::kRefused ? O_NOFOLLOW : 0;
  const int fd = ::openat(fd_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | no_links | flags);
  if (fd >= 0) return Descriptor(fd);
  if (errno == ELOOP && no_links != 0) {
    return absl::FailedPreconditionError("open " + path_ + "/" + name +
                                         ": it is a symbolic link, which is not followed");
  }
  return ErrnoToStatus(errno, "open", path_ + "/" + name);
}

absl::StatusOr<Directory> Directory::OpenDirectoryIn(const std::string& name) const {
  ASSIGN_OR_RETURN(Descriptor fd, OpenIn(name, O_DIRECTORY));
  return Directory(std::move(fd), path_ + "/" + name, links_);
}

absl::StatusOr<OpenFile> Directory::OpenFileIn(const std::string& name) const {
  // Without O_NONBLOCK the open of a pipe would wait for a writer.
  ASSIGN_OR_RETURN(Descriptor fd, OpenIn(name, O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoToStatus(errno, "stat", path_ + "/" + name);
  if (!S_ISREG(info.st_mode)) return NotRegular(path_ + "/" + name);
  return OpenFile(std::move(fd), path_ + "/" + name);
}

absl::StatusOr<FileIdentity> Directory::IdentityOf(const std::string& name) const {
  struct stat info {};
  const int flags = links_ == Links::kRefused ? AT_SYMLINK_NOFOLLOW : 0;
  if (::fstatat(fd_.get(), name.c_str(), &info, flags) != 0) {
    return ErrnoToStatus(errno, "stat", path_ + "/" + name);
  }
  if (!S_ISREG(info.st_mode)) return NotRegular(path_ + "/" + name);
  return FromStat(info);
}

absl::StatusOr<FileIdentity> Directory::Identity() const {
  struct stat info {};
  if (::fstat(fd_.get(), &info) != 0) return ErrnoToStatus(errno, "stat", path_);
  return FromStat(info);
}

std::optional<Directory::Entry::Kind> Directory::KindOf(const std::string& name,
                                                        unsigned char type) const {
  if (type == DT_DIR) return Entry::Kind::kDirectory;
  if (type != DT_LNK && type != DT_UNKNOWN) return Entry::Kind::kFile;
  struct stat info {};
  if (::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  const bool is_link = S_ISLNK(info.st_mode);
  // A link to nowhere counts as a file, which will not open.
  if (is_link && ::fstatat(fd_.get(), name.c_str(), &info, 0) != 0) return Entry::Kind::kFile;
  if (!S_ISDIR(info.st_mode)) return Entry::Kind::kFile;
  return is_link && links_ == Links::kRefused ? Entry::Kind::kRefusedLink
                                              : Entry::Kind::kDirectory;
}

absl::StatusOr<std::vector<Directory::Entry>> Directory::List(size_t most) const {
  // A descriptor of its own, since the stream closes it and moves its place.
  ASSIGN_OR_RETURN(Descriptor fd, OpenIn(".", O_DIRECTORY));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd.get()), ::closedir);
  if (stream == nullptr) return ErrnoToStatus(errno, "list", path_);
  fd.Release();
  std::vector<Entry> entries;
  for (;;) {
    errno = 0;
    const dirent* const found = ::readdir(stream.get());
    if (found == nullptr) break;
    Entry entry{.name = found->d_name};
    if (entry.name == "." || entry.name == "..") continue;
    if (entries.size() == most) {
      return absl::ResourceExhaustedError("list " + path_ + ": there are more than " +
                                          std::to_string(most) + " files");
    }
    const std::optional<Entry::Kind> kind = KindOf(entry.name, found->d_type);
    if (!kind) continue;
    entry.kind = *kind;
    entries.push_back(std::move(entry));
  }
  if (errno != 0) return ErrnoToStatus(errno, "list", path_);
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

}  // namespace taas
