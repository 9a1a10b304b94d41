// Files, as an interface: POSIX now, other stores later, faults in tests.
//
// The trainer's readers and writers and localkube's node reach disks only through this.
//
// Ownership: a file object owns its descriptor and closes it. Threads: a FileSystem from any
// thread, a file object from one at a time. Errors: NotFound, PermissionDenied, AlreadyExists,
// ResourceExhausted (disk or quota full), Unavailable otherwise; each message names the call, the
// path and the cause.
//
//   PosixFileSystem files;
//   ASSIGN_OR_RETURN(const std::string text, files.ReadAll(path));
//   RETURN_IF_ERROR(files.WriteAtomically(path, text));

#ifndef OPERATOR_BASE_FILE_SYSTEM_H_
#define OPERATOR_BASE_FILE_SYSTEM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taas {

class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual absl::Status Append(std::string_view data) = 0;
  virtual absl::Status Sync() = 0;
  // Further calls are errors. A file that is destroyed open is closed and its error lost.
  virtual absl::Status Close() = 0;
};

class RandomReadFile {
 public:
  virtual ~RandomReadFile() = default;
  // Reads up to `size` bytes at `offset`; fewer only at the end of the file.
  virtual absl::StatusOr<size_t> ReadAt(uint64_t offset, size_t size, char* out) const = 0;
  virtual absl::StatusOr<uint64_t> Size() const = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual absl::StatusOr<std::unique_ptr<RandomReadFile>> OpenRead(const std::string& path) = 0;
  // Creates or empties `path`.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> OpenWrite(const std::string& path) = 0;
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> OpenAppend(const std::string& path) = 0;

  virtual absl::StatusOr<bool> Exists(const std::string& path) = 0;
  // Names, sorted, without "." and "..".
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& dir) = 0;
  virtual absl::Status MakeDirs(const std::string& dir) = 0;
  // Replaces `target` in one step; both on one file system.
  virtual absl::Status Rename(const std::string& source, const std::string& target) = 0;
  // NotFound is not an error: the file is gone either way.
  virtual absl::Status Remove(const std::string& path) = 0;
  virtual absl::Status RemoveAll(const std::string& dir) = 0;
  // Makes renames and new names in `dir` survive a power cut.
  virtual absl::Status SyncDir(const std::string& dir) = 0;

  absl::StatusOr<std::string> ReadAll(const std::string& path);
  // Readers see the old content or the new, also after a power cut. Writes `path`.tmp beside it.
  absl::Status WriteAtomically(const std::string& path, std::string_view data);
};

class PosixFileSystem : public FileSystem {
 public:
  absl::StatusOr<std::unique_ptr<RandomReadFile>> OpenRead(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenWrite(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenAppend(const std::string& path) override;
  absl::StatusOr<bool> Exists(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& dir) override;
  absl::Status MakeDirs(const std::string& dir) override;
  absl::Status Rename(const std::string& source, const std::string& target) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status RemoveAll(const std::string& dir) override;
  absl::Status SyncDir(const std::string& dir) override;
};

// The Status for `error`, an errno value: "CALL PATH: text of the error".
absl::Status ErrnoToStatus(int error, std::string_view call, std::string_view path);

// "a/b" of "a/b/c"; "." of "c"; "/" of "/c".
std::string DirName(const std::string& path);

}  // namespace taas

#endif  // OPERATOR_BASE_FILE_SYSTEM_H_
