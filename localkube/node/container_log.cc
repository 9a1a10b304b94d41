#include "localkube/node/container_log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <utility>

#include "localkube/node/regular_file.h"
#include "operator/base/status.h"

namespace taas::localkube {
namespace {

// "2026-11-21T05:54:17.123456789Z stdout F"
constexpr size_t kTagAt = 38;
constexpr size_t kTailBlockBytes = 256 << 10;

// The last bytes of all parts together: the newest may have been begun a moment ago.
FileEnd EndOfParts(const std::string& path, size_t bytes_max) {
  FileEnd out;
  for (int age = 0; age < kLogFilesMax && out.text.size() < bytes_max; ++age) {
    FileEnd part = ReadEnd(LogPart(path, age), bytes_max - out.text.size());
    if (part.text.empty()) continue;
    out.text.insert(0, part.text);
    out.cut = part.cut;
  }
  return out;
}

}  // namespace

std::string FormatRfc3339Nano(Clock::WallTime time) {
  const auto since = time.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  const int64_t nanos = std::chrono::nanoseconds(since - seconds).count();
  char fraction[16];
  std::snprintf(fraction, sizeof fraction, ".%09dZ", static_cast<int>(nanos));
  std::string out = FormatRfc3339(Clock::WallTime(seconds));
  out.pop_back();
  return out + fraction;
}

ContainerLog::ContainerLog(FileSystem& disk, const Clock& clock, Options options)
    : disk_(disk), clock_(clock), options_(std::move(options)) {}

absl::Status ContainerLog::Append(LogStream stream, std::string_view bytes) {
  std::string& partial = partial_[static_cast<size_t>(stream)];
  std::string batch;
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const size_t room = kLineBytesMax - partial.size();
    const size_t take = std::min(end == std::string_view::npos ? bytes.size() : end, room);
    partial.append(bytes.substr(0, take));
    bytes.remove_prefix(take);
    if (!bytes.empty() && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      RETURN_IF_ERROR(WriteRecord(stream, 'F', std::exchange(partial, {}), &batch));
    } else if (partial.size() == kLineBytesMax) {
      RETURN_IF_ERROR(WriteRecord(stream, 'P', std::exchange(partial, {}), &batch));
    }
  }
  return Flush(batch);
}

absl::Status ContainerLog::Finish() {
  std::string batch;
  for (const LogStream stream : {LogStream::kStdout, LogStream::kStderr}) {
    std::string& partial = partial_[static_cast<size_t>(stream)];
    if (partial.empty()) continue;
    RETURN_IF_ERROR(WriteRecord(stream, 'F', std::exchange(partial, {}), &batch));
  }
  return Flush(batch);
}

absl::Status ContainerLog::WriteRecord(LogStream stream, char tag, std::string_view text,
                                       std::string* batch) {
  *batch += FormatRfc3339Nano(clock_.WallNow());
  *batch += stream == LogStream::kStdout ? " stdout " : " stderr ";
  *batch += tag;
  *batch += ' ';
  *batch += text;
  *batch += '\n';
  if (file_bytes_ + batch->size() < options_.file_bytes_max) return absl::OkStatus();
  RETURN_IF_ERROR(Flush(std::exchange(*batch, {})));
  return Rotate();
}

absl::Status ContainerLog::Flush(const std::string& batch) {
  if (batch.empty()) return absl::OkStatus();
  if (file_ == nullptr) {
    ASSIGN_OR_RETURN(file_, disk_.OpenAppend(options_.path));
  }
  file_bytes_ += batch.size();
  return file_->Append(batch);
}

absl::Status ContainerLog::Rotate() {
  if (file_ != nullptr) {
    RETURN_IF_ERROR(file_->Close());
  }
  file_ = nullptr;
  file_bytes_ = 0;
  for (int age = options_.files_max - 2; age >= 0; --age) {
    const std::string source = LogPart(options_.path, age);
    ASSIGN_OR_RETURN(const bool exists, disk_.Exists(source));
    if (exists) {
      RETURN_IF_ERROR(disk_.Rename(source, LogPart(options_.path, age + 1)));
    }
  }
  return absl::OkStatus();
}

std::string LogPart(const std::string& path, int age) {
  return age == 0 ? path : path + "." + std::to_string(age);
}

void RemoveLog(FileSystem& disk, const std::string& path) {
  for (int age = 0; age < kLogFilesMax; ++age) disk.Remove(LogPart(path, age)).IgnoreError();
}

std::optional<uint64_t> BeginOfTail(int fd, uint64_t* lines) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return std::nullopt;
  uint64_t next = static_cast<uint64_t>(info.st_size);  // Where the record after `record` begins.
  std::string block;
  for (uint64_t end = next, begin = 0; end > 0; end = begin) {
    begin = end - std::min<uint64_t>(end, kTailBlockBytes);
    // With the tag of a record that begins at the end.
    block.resize(end - begin + kTagAt + 1);
    const ssize_t got = ::pread(fd, block.data(), block.size(), static_cast<off_t>(begin));
    if (got < static_cast<ssize_t>(end - begin)) return std::nullopt;
    block.resize(static_cast<size_t>(got));
    for (uint64_t record = end + 1; record-- > begin;) {
      const bool begins = record == 0 || (record > begin && block[record - begin - 1] == '\n');
      if (!begins || record >= next || record - begin + kTagAt >= block.size()) continue;
      if (block[record - begin + kTagAt] == 'F' && (*lines)-- == 0) return next;
      next = record;
    }
  }
  return std::nullopt;
}

std::string LogTail(const std::string& path, size_t lines_max, size_t bytes_max) {
  // Twice the bytes leave room for the times and streams that are cut off.
  const FileEnd end = EndOfParts(path, 2 * bytes_max + kLineBytesMax);
  const std::string& text = end.text;
  std::deque<std::string> lines;
  bool open = false;  // The last line goes on in the next record.
  for (size_t begin = end.cut ? text.find('\n') + 1 : 0; begin < text.size();) {
    const size_t stop = std::min(text.find('\n', begin), text.size());
    const std::string_view record(text.data() + begin, stop - begin);
    begin = stop + 1;
    // "TIME stream F text"
    if (record.size() < kTagAt + 2) continue;
    if (!open) lines.emplace_back();
    lines.back() += record.substr(kTagAt + 2);
    open = record[kTagAt] == 'P';
    if (lines.size() > lines_max) lines.pop_front();
  }
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  if (out.size() > bytes_max) out.erase(0, out.size() - bytes_max);
  return out;
}

}  // namespace taas::localkube
