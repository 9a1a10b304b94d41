// Files of a fuzz target: some thousand inputs a second are too many for a disk.
//
// Ownership: a value; an open file borrows nothing. Threads: one at a time. Errors: NotFound of
// what is not there; Unimplemented of all that writes.
//
//   MemoryFiles files({{"/x", input}});
//   (void)ReadIdx(files, "/x");

#ifndef TOOLS_FUZZ_MEMORY_FILES_H_
#define TOOLS_FUZZ_MEMORY_FILES_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "operator/base/file_system.h"

namespace taas {

class MemoryFiles : public FileSystem {
 public:
  explicit MemoryFiles(std::map<std::string, std::string> files) : files_(std::move(files)) {}

  absl::StatusOr<std::unique_ptr<RandomReadFile>> OpenRead(const std::string& path) override;
  absl::StatusOr<bool> Exists(const std::string& path) override { return files_.contains(path); }
  // Of the one directory that all files are in, whatever its name.
  absl::StatusOr<std::vector<std::string>> List(const std::string& dir) override;

  absl::StatusOr<std::unique_ptr<WritableFile>> OpenWrite(const std::string&) override {
    return No();
  }
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenAppend(const std::string&) override {
    return No();
  }
  absl::Status MakeDirs(const std::string&) override { return No(); }
  absl::Status Rename(const std::string&, const std::string&) override { return No(); }
  absl::Status Remove(const std::string&) override { return No(); }
  absl::Status RemoveAll(const std::string&) override { return No(); }
  absl::Status SyncDir(const std::string&) override { return No(); }

 private:
  static absl::Status No() { return absl::UnimplementedError("files in memory are read only"); }

  std::map<std::string, std::string> files_;
};

}  // namespace taas

#endif  // TOOLS_FUZZ_MEMORY_FILES_H_
