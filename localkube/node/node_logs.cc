#include "localkube/node/node_logs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "localkube/node/container_log.h"
#include "localkube/node/container_run.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

// Reads on through rotation: an open file keeps its content whatever its name becomes. That needs
// inodes, so it speaks POSIX and not FileSystem.
class FileReader : public LogReader {
 public:
  FileReader(FileSystem& disk, RunFiles files, std::optional<uint64_t> tail)
      : disk_(disk), files_(std::move(files)) {
    for (const std::string& path : LogFiles(disk_, files_.log)) {
      const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      if (fd >= 0) fds_.push_back(fd);
    }
    if (tail) SkipTo(*tail);
  }
  ~FileReader() override {
    for (const int fd : fds_) ::close(fd);
  }

  absl::StatusOr<LogChunk> Read(size_t size_max) override {
    LogChunk chunk;
    // Asked first: what the shim wrote before its record is then there to be read.
    ASSIGN_OR_RETURN(const RunStatus run, ReadRun(disk_, files_));
    for (;;) {
      if (fds_.empty() && !OpenCurrent()) break;
      const std::string more = ReadFront(size_max);
      if (!more.empty()) {
        chunk.data = more;
        return chunk;
      }
      if (fds_.size() == 1 && !Rotated()) break;
      ::close(fds_.front());
      fds_.pop_front();
      offset_ = 0;
    }
    chunk.ended = run.phase == RunPhase::kEnded;
    return chunk;
  }

 private:
  void SkipTo(uint64_t lines) {
    for (size_t file = fds_.size(); file-- > 0;) {
      const std::optional<uint64_t> begin = BeginOfTail(fds_[file], &lines);
      if (!begin) continue;
      offset_ = *begin;
      for (; file > 0; --file) {
        ::close(fds_.front());
        fds_.pop_front();
      }
      return;
    }
  }

  bool OpenCurrent() {
    const int fd = ::open(files_.log.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0) fds_.push_back(fd);
    return fd >= 0;
  }

  // True if the file we read is no longer the one that is written.
  bool Rotated() const {
    struct stat ours {};
    struct stat current {};
    if (::fstat(fds_.front(), &ours) != 0 || ::stat(files_.log.c_str(), &current) != 0)
      return false;
    return ours.st_ino != current.st_ino;
  }

  // Whole records of the oldest file that is not read yet.
  std::string ReadFront(size_t size_max) {
    std::string text(std::max(size_max, 2 * kLineBytesMax), '\0');
    const ssize_t got =
        ::pread(fds_.front(), text.data(), text.size(), static_cast<off_t>(offset_));
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    text.resize(text.rfind('\n') + 1);  // npos + 1 is 0.
    offset_ += text.size();
    return text;
  }

  FileSystem& disk_;
  const RunFiles files_;
  std::deque<int> fds_;  // Oldest first.
  uint64_t offset_ = 0;  // In the first of them.
};

}  // namespace

absl::StatusOr<std::unique_ptr<LogReader>> NodeLogs::Open(const LogRequest& request) {
  const std::string what =
      "container " + request.container + " of pod " + request.ns + "/" + request.pod;
  ASSIGN_OR_RETURN(int number, dirs_.LatestRun(disk_, request.uid, request.container));
  if (request.previous) --number;
  if (number < 0) {
    if (request.previous) return absl::NotFoundError(what + " has no run before this one");
    return absl::FailedPreconditionError(what + " has not started");
  }
  RunFiles files = dirs_.Run(request.uid, request.container, number);
  ASSIGN_OR_RETURN(const RunStatus run, ReadRun(disk_, files));
  if (run.phase == RunPhase::kNew) {
    return absl::FailedPreconditionError(what + " has not started");
  }
  return std::unique_ptr<LogReader>(new FileReader(disk_, std::move(files), request.tail));
}

}  // namespace taas::localkube
