#include "localkube/node/node_logs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "localkube/node/container_log.h"
#include "localkube/node/container_run.h"
#include "localkube/node/log_pin.h"
#include "localkube/node/regular_file.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

bool IsSameFile(int a, int b) {
  struct stat one {};
  struct stat other {};
  return ::fstat(a, &one) == 0 && ::fstat(b, &other) == 0 && one.st_ino == other.st_ino &&
         one.st_dev == other.st_dev;
}

// Reads on through rotation: an open file keeps its content whatever its name becomes, also when it
// has none any more. That needs inodes, so it speaks POSIX and not FileSystem.
class FileReader : public LogReader {
 public:
  FileReader(FileSystem& disk, RunFiles files, LogPin pin, std::optional<uint64_t> tail)
      : disk_(disk), files_(std::move(files)), pin_(std::move(pin)) {
    OpenNewer();
    if (tail) SkipTo(*tail);
  }
  ~FileReader() override {
    for (const int fd : fds_) ::close(fd);
  }

  absl::StatusOr<LogChunk> Read(size_t size_max) override {
    LogChunk chunk;
    // Asked first: what the shim wrote before its end is then there to be read.
    const bool ended = HasEnded();
    while (!fds_.empty() || OpenNewer()) {
      chunk.data = ReadFront(size_max);
      if (!chunk.data.empty()) return chunk;
      if (fds_.size() == 1) {
        if (!OpenNewer()) break;
        // From now on nothing is written to the one before; what came before that is read yet.
        continue;
      }
      ::close(fds_.front());
      fds_.pop_front();
      offset_ = 0;
    }
    chunk.ended = ended;
    if (ended) pin_.Release();
    return chunk;
  }

 private:
  // A run is read only once it has been claimed. If nobody is at work on it any more, it has ended,
  // even if all that said so is gone: its pod was deleted, and its directory with it.
  bool HasEnded() {
    const absl::StatusOr<RunStatus> run = LookAtRun(disk_, files_);
    // Short of descriptors, say: what cannot be looked at now is looked at again.
    if (!run.ok()) return false;
    return run->phase == RunPhase::kEnded || run->phase == RunPhase::kNew;
  }

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

  // Opens the parts that are newer than those that are open. False: there are none. The newest is
  // looked for first: a part that gets its next name meanwhile is met twice then, and not missed.
  bool OpenNewer() {
    std::deque<int> found;
    for (int age = 0; age < kLogFilesMax; ++age) {
      const absl::StatusOr<int> fd = OpenRegular(LogPart(files_.log, age));
      if (!fd.ok()) continue;
      const bool known = !fds_.empty() && IsSameFile(*fd, fds_.back());
      if (known || (!found.empty() && IsSameFile(*fd, found.front()))) {
        ::close(*fd);
        if (known) break;
        continue;
      }
      found.push_front(*fd);
    }
    fds_.insert(fds_.end(), found.begin(), found.end());
    return !found.empty();
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
  LogPin pin_;
  std::deque<int> fds_;  // Oldest first.
  uint64_t offset_ = 0;  // In the first of them.
};

}  // namespace

absl::StatusOr<std::unique_ptr<LogReader>> NodeLogs::Open(const LogRequest& request) {
  const std::string what =
      "container " + request.container + " of pod " + request.ns + "/" + request.pod;
  LogPin pin(dirs_.Pod(request.uid));
  ASSIGN_OR_RETURN(int number, dirs_.LatestRun(disk_, request.uid, request.container));
  if (request.previous) --number;
  if (request.run.has_value()) number = *request.run <= number ? *request.run : -1;
  if (number < 0) {
    if (request.previous) return absl::NotFoundError(what + " has no run before this one");
    return absl::FailedPreconditionError(what + " has not started");
  }
  RunFiles files = dirs_.Run(request.uid, request.container, number);
  ASSIGN_OR_RETURN(RunStatus run, LookAtRun(disk_, files));
  const bool latest = !request.previous && !request.run.has_value();
  if (run.phase == RunPhase::kNew && latest && number > 0) {
    // What it will run next waits for something; until then a kubelet shows the run before.
    files = dirs_.Run(request.uid, request.container, number - 1);
    ASSIGN_OR_RETURN(run, LookAtRun(disk_, files));
  }
  if (run.phase == RunPhase::kNew) {
    return absl::FailedPreconditionError(what + " has not started");
  }
  return std::unique_ptr<LogReader>(
      new FileReader(disk_, std::move(files), std::move(pin), request.tail));
}

}  // namespace taas::localkube
