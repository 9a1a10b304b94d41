// A container's output on disk, in the format that CRI runtimes write: "TIME stream F|P text".
//
// Each line of output is one record; a line longer than kLineBytesMax becomes several, marked P but
// for the last. A file that reaches its limit is renamed to ".1", ".1" to ".2" and so on, and the
// oldest is lost.
//
// Ownership: owns the open file; disk and clock outlive it. Threads: one at a time. Errors: those
// of the FileSystem; the record that failed is lost, later ones may be written.
//
//   ContainerLog log(disk, clock, {.path = files.log});
//   log.Append(LogStream::kStdout, bytes);
//   log.Finish();

#ifndef LOCALKUBE_NODE_CONTAINER_LOG_H_
#define LOCALKUBE_NODE_CONTAINER_LOG_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "operator/base/clock.h"
#include "operator/base/file_system.h"

namespace taas::localkube {

enum class LogStream { kStdout, kStderr };

// containerd's limit; a reader may hold one record in memory.
inline constexpr size_t kLineBytesMax = 16 * 1024;
// A training job prints for days; 4 × 16 MiB per container keep its end and bound the disk it
// takes.
inline constexpr uint64_t kLogFileBytesMax = 16ull << 20;
inline constexpr int kLogFilesMax = 4;

class ContainerLog {
 public:
  struct Options {
    std::string path;
    uint64_t file_bytes_max = kLogFileBytesMax;
    int files_max = kLogFilesMax;
  };
  ContainerLog(FileSystem& disk, const Clock& clock, Options options);

  // `bytes` may begin and end anywhere in a line.
  absl::Status Append(LogStream stream, std::string_view bytes);
  // Writes what has no newline yet.
  absl::Status Finish();

 private:
  absl::Status WriteRecord(LogStream stream, char tag, std::string_view text, std::string* batch);
  absl::Status Flush(const std::string& batch);
  absl::Status Rotate();

  FileSystem& disk_;
  const Clock& clock_;
  const Options options_;
  std::unique_ptr<WritableFile> file_;
  uint64_t file_bytes_ = 0;
  std::array<std::string, 2> partial_;
};

// "2026-11-21T05:54:17.123456789Z".
std::string FormatRfc3339Nano(Clock::WallTime time);

// The name of a part of the log at `path`: 0 is the one that is written, kLogFilesMax - 1 the
// oldest that is kept.
std::string LogPart(const std::string& path, int age);

// Removes all parts. What cannot be removed stays.
void RemoveLog(FileSystem& disk, const std::string& path);

// Where the last `lines` lines of a file begin; nothing: it has no more than these, and `lines` is
// how many are still wanted of the file before it. A line may be of several records, of which the
// last has the tag F.
std::optional<uint64_t> BeginOfTail(int fd, uint64_t* lines);

// The last `lines_max` lines of the log at `path`, without times, at most `bytes_max` bytes.
std::string LogTail(const std::string& path, size_t lines_max, size_t bytes_max);

}  // namespace taas::localkube

#endif  // LOCALKUBE_NODE_CONTAINER_LOG_H_
