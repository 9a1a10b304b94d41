// The shim with a disk that fails, or a shim that is killed, at the n-th operation. The name under
// which it is started says which: …-fail-7, …-kill-7.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "localkube/node/shim.h"
#include "operator/base/fault_file_system.h"

namespace {

// Ends the process at an operation, half of them before it was done and half after.
class DyingFileSystem : public taas::PosixFileSystem {
 public:
  explicit DyingFileSystem(int at) : at_(at) {}
  absl::StatusOr<std::unique_ptr<taas::RandomReadFile>> OpenRead(const std::string& path) override {
    Step();
    return PosixFileSystem::OpenRead(path);
  }
  absl::StatusOr<std::unique_ptr<taas::WritableFile>> OpenWrite(const std::string& path) override {
    Step();
    auto file = PosixFileSystem::OpenWrite(path);
    Step();
    return file;
  }
  absl::StatusOr<std::unique_ptr<taas::WritableFile>> OpenAppend(const std::string& path) override {
    Step();
    return PosixFileSystem::OpenAppend(path);
  }
  absl::Status Rename(const std::string& source, const std::string& target) override {
    Step();
    absl::Status status = PosixFileSystem::Rename(source, target);
    Step();
    return status;
  }
  absl::Status SyncDir(const std::string& dir) override {
    Step();
    return PosixFileSystem::SyncDir(dir);
  }

 private:
  void Step() {
    if (++steps_ == at_) ::_exit(1);
  }

  const int at_;
  int steps_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: fault_shim_program-(fail|kill)-N shim DIR\n");
    return 2;
  }
  const std::string name = argv[0];
  const size_t dash = name.rfind('-');
  const int at = std::atoi(name.c_str() + dash + 1);
  if (name.substr(0, dash).ends_with("-kill")) {
    DyingFileSystem disk(at);
    return taas::localkube::RunShim(argv[2], disk);
  }
  taas::PosixFileSystem posix;
  taas::FaultFileSystem disk(posix);
  disk.FailAt(at, taas::FaultFileSystem::Kind::kOnce);
  return taas::localkube::RunShim(argv[2], disk);
}
