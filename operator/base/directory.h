// A directory of event files on the disk, and the files in it: what FileSystem does not tell, who a
// file is and whether it has changed.
//
// Everything below the top is reached from the directory above it, never by a path, and symbolic
// links are not followed unless asked: whoever can write into a job's volume could otherwise lead
// the dashboard to files of somebody else. Files that are no regular ones, which could block a
// reader for ever, are not opened.
//
// Ownership: owns its descriptor. Threads: one at a time. Errors: those of the system, naming the
// path; FailedPrecondition for what is no regular file, or a link that is not followed.
//
//   ASSIGN_OR_RETURN(const Directory top, Directory::Open("/out/events", Links::kRefused));
//   ASSIGN_OR_RETURN(const std::vector<Directory::Entry> entries, top.List(kMost));
//   ASSIGN_OR_RETURN(const OpenFile file, top.OpenFileIn("events.out.tfevents.1"));

#ifndef OPERATOR_BASE_DIRECTORY_H_
#define OPERATOR_BASE_DIRECTORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace taas {

// Of a file; with another device or inode it is another file under the old name.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t modified_ns = 0;

  bool operator==(const FileIdentity&) const = default;
  bool IsSameFileAs(const FileIdentity& other) const {
    return device == other.device && inode == other.inode;
  }
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int get() const { return fd_; }
  void Release() { fd_ = -1; }  // Somebody else closes it now.

 private:
  int fd_;
};

class OpenFile {
 public:
  OpenFile(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  absl::StatusOr<FileIdentity> Identity() const;
  // Fewer than `size` bytes only at the end of the file.
  absl::StatusOr<size_t> ReadAt(uint64_t offset, size_t size, char* out) const;

 private:
  Descriptor fd_;
  std::string path_;
};

enum class Links { kRefused, kFollowed };

class Directory {
 public:
  struct Entry {
    enum class Kind { kFile, kDirectory, kRefusedLink };  // A link to a directory.
    std::string name;
    Kind kind = Kind::kFile;
  };

  // `path` itself may be a link: it is the operator's word.
  static absl::StatusOr<Directory> Open(const std::string& path, Links links);
  absl::StatusOr<Directory> OpenDirectoryIn(const std::string& name) const;

  // In order of name; ResourceExhausted if there are more than `most`.
  absl::StatusOr<std::vector<Entry>> List(size_t most) const;
  absl::StatusOr<FileIdentity> IdentityOf(const std::string& name) const;
  absl::StatusOr<OpenFile> OpenFileIn(const std::string& name) const;
  // Of the directory, by which a walk that follows links sees that it goes round in a circle.
  absl::StatusOr<FileIdentity> Identity() const;

 private:
  Directory(Descriptor fd, std::string path, Links links)
      : fd_(std::move(fd)), path_(std::move(path)), links_(links) {}
  // Nothing for what is gone by now.
  std::optional<Entry::Kind> KindOf(const std::string& name, unsigned char type) const;
  absl::StatusOr<Descriptor> OpenIn(const std::string& name, int flags) const;

  Descriptor fd_;
  std::string path_;
  Links links_;
};

}  // namespace taas

#endif  // OPERATOR_BASE_DIRECTORY_H_
