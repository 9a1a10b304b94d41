#include "trainer/data/line_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "operator/base/status.h"

namespace taas {
namespace {

constexpr size_t kReadBytes = 64 << 10;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

LineReader::LineReader(std::unique_ptr<GzipReader> file, std::string path, size_t line_bytes_max)
    : file_(std::move(file)), path_(std::move(path)), line_bytes_max_(line_bytes_max) {}

absl::StatusOr<std::unique_ptr<LineReader>> LineReader::Open(FileSystem& files, std::string path,
                                                             size_t line_bytes_max) {
  ASSIGN_OR_RETURN(auto file, GzipReader::Open(files, path));
  return std::unique_ptr<LineReader>(
      new LineReader(std::move(file), std::move(path), line_bytes_max));
}

absl::Status LineReader::Refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  buffer_.resize(std::max(buffer_.size(), end_ + kReadBytes));
  const size_t room = buffer_.size() - end_;
  ASSIGN_OR_RETURN(const size_t got,
                   file_->Read({reinterpret_cast<uint8_t*>(buffer_.data()) + end_, room}));
  end_ += got;
  at_end_ = got < room;
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string_view>> LineReader::Next() {
  size_t searched = 0;  // Bytes of the buffer without an end of a line.
  for (;;) {
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    size_t size = rest.find('\n', searched);
    const bool whole = size != std::string_view::npos;
    if (!whole) size = rest.size();
    if (size > line_bytes_max_) {
      return absl::ResourceExhaustedError("read " + path_ + ": line " +
                                          std::to_string(number_ + 1) + " has more than " +
                                          std::to_string(line_bytes_max_) + " bytes");
    }
    if (!whole && !at_end_) {
      searched = rest.size();
      RETURN_IF_ERROR(Refill());
      continue;
    }
    if (rest.empty()) return std::optional<std::string_view>();
    begin_ += size + (whole ? 1 : 0);
    std::string_view line = rest.substr(0, size);
    if (++number_ == 1 && line.starts_with(kByteOrderMark)) {
      line.remove_prefix(kByteOrderMark.size());
    }
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return std::optional<std::string_view>(line);
  }
}

}  // namespace taas
