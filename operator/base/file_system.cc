#include "operator/base/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "operator/base/status.h"

namespace taas {
namespace {

class PosixWritableFile : public WritableFile {
 public:
  PosixWritableFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~PosixWritableFile() override {
    if (fd_ >= 0) ::close(fd_);
  }

  absl::Status Append(std::string_view data) override {
    while (!data.empty()) {
      const ssize_t written = ::write(fd_, data.data(), data.size());
      if (written < 0) {
        if (errno == EINTR) continue;
        return ErrnoToStatus(errno, "write", path_);
      }
      data.remove_prefix(static_cast<size_t>(written));
    }
    return absl::OkStatus();
  }

  absl::Status Sync() override {
    return ::fsync(fd_) == 0 ? absl::OkStatus() : ErrnoToStatus(errno, "fsync", path_);
  }

  absl::Status Close() override {
    return ::close(std::exchange(fd_, -1)) == 0 ? absl::OkStatus()
                                                : ErrnoToStatus(errno, "close", path_);
  }

 private:
  int fd_;
  const std::string path_;
};

class PosixRandomReadFile : public RandomReadFile {
 public:
  PosixRandomReadFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~PosixRandomReadFile() override { ::close(fd_); }

  absl::StatusOr<size_t> ReadAt(uint64_t offset, size_t size, char* out) const override {
    size_t done = 0;
    while (done < size) {
      const ssize_t got = ::pread(fd_, out + done, size - done, static_cast<off_t>(offset + done));
      if (got < 0) {
        if (errno == EINTR) continue;
        return ErrnoToStatus(errno, "read", path_);
      }
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }

  absl::StatusOr<uint64_t> Size() const override {
    struct stat info {};
    if (::fstat(fd_, &info) != 0) return ErrnoToStatus(errno, "stat", path_);
    return static_cast<uint64_t>(info.st_size);
  }

 private:
  const int fd_;
  const std::string path_;
};

absl::StatusOr<std::unique_ptr<WritableFile>> OpenForWriting(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
  if (fd < 0) return ErrnoToStatus(errno, "open", path);
  return std::make_unique<PosixWritableFile>(fd, path);
}

}  // namespace

absl::Status ErrnoToStatus(int error, std::string_view call, std::string_view path) {
  const std::string text = std::string(call) + " " + std::string(path) + ": " +
                           std::generic_category().message(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(text);
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError(text);
    case EEXIST:
    case ENOTEMPTY:
      return absl::AlreadyExistsError(text);
    case ENOSPC:
    case EDQUOT:
      return absl::ResourceExhaustedError(text);
    // Also no descriptor left, and a disk that the kernel made read-only after an error: they pass,
    // here or on another node.
    default:
      return absl::UnavailableError(text);
  }
}

std::string DirName(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

absl::StatusOr<std::string> FileSystem::ReadAll(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<RandomReadFile> file, OpenRead(path));
  ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  std::string text(size, '\0');
  ASSIGN_OR_RETURN(size_t done, file->ReadAt(0, size, text.data()));
  text.resize(done);
  // Files of /proc say size 0, and a file may grow while it is read.
  constexpr size_t kChunk = 64 << 10;
  while (true) {
    text.resize(done + kChunk);
    ASSIGN_OR_RETURN(const size_t more, file->ReadAt(done, kChunk, text.data() + done));
    done += more;
    text.resize(done);
    if (more < kChunk) return text;
  }
}

absl::Status FileSystem::WriteAtomically(const std::string& path, std::string_view data) {
  const std::string temporary = path + ".tmp";
  ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, OpenWrite(temporary));
  RETURN_IF_ERROR(file->Append(data));
  RETURN_IF_ERROR(file->Sync());
  RETURN_IF_ERROR(file->Close());
  RETURN_IF_ERROR(Rename(temporary, path));
  return SyncDir(DirName(path));
}

absl::StatusOr<std::unique_ptr<RandomReadFile>> PosixFileSystem::OpenRead(const std::string& path) {
  // O_NONBLOCK, which changes nothing for files: opening a pipe would wait for who writes to it.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return ErrnoToStatus(errno, "open", path);
  struct stat info {};
  if (::fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode)) {
    ::close(fd);
    return absl::FailedPreconditionError("open " + path + ": it is a pipe, not a file");
  }
  return std::make_unique<PosixRandomReadFile>(fd, path);
}

absl::StatusOr<std::unique_ptr<WritableFile>> PosixFileSystem::OpenWrite(const std::string& path) {
  return OpenForWriting(path, O_TRUNC);
}

absl::StatusOr<std::unique_ptr<WritableFile>> PosixFileSystem::OpenAppend(const std::string& path) {
  return OpenForWriting(path, O_APPEND);
}

absl::StatusOr<bool> PosixFileSystem::Exists(const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return ErrnoToStatus(errno, "access", path);
}

absl::StatusOr<std::vector<std::string>> PosixFileSystem::List(const std::string& dir) {
  DIR* stream = ::opendir(dir.c_str());
  if (stream == nullptr) return ErrnoToStatus(errno, "list", dir);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  const int error = errno;
  ::closedir(stream);
  if (error != 0) return ErrnoToStatus(error, "list", dir);
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status PosixFileSystem::MakeDirs(const std::string& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  return error ? ErrnoToStatus(error.value(), "make directory", dir) : absl::OkStatus();
}

absl::Status PosixFileSystem::Rename(const std::string& source, const std::string& target) {
  if (::rename(source.c_str(), target.c_str()) == 0) return absl::OkStatus();
  return ErrnoToStatus(errno, "rename " + source + " to", target);
}

absl::Status PosixFileSystem::Remove(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return ErrnoToStatus(errno, "remove", path);
}

absl::Status PosixFileSystem::RemoveAll(const std::string& dir) {
  std::error_code error;
  std::filesystem::remove_all(dir, error);
  return error ? ErrnoToStatus(error.value(), "remove tree", dir) : absl::OkStatus();
}

absl::Status PosixFileSystem::SyncDir(const std::string& dir) {
  const int fd = ::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return ErrnoToStatus(errno, "open", dir);
  const int result = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  return result == 0 ? absl::OkStatus() : ErrnoToStatus(error, "fsync", dir);
}

}  // namespace taas
