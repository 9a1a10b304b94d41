// The lines of a text file, plain or gzip, one after the other.
//
// Ownership: borrows the FileSystem, owns its open file. Threads: one at a time. Errors: the
// FileSystem's and GzipReader's; ResourceExhausted for a line of more than `line_bytes_max`, naming
// file and line.
//
//   ASSIGN_OR_RETURN(auto lines, LineReader::Open(files, "train.csv", 1 << 20));
//   ASSIGN_OR_RETURN(const std::optional<std::string_view> line, lines->Next());

#ifndef TRAINER_DATA_LINE_READER_H_
#define TRAINER_DATA_LINE_READER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"
#include "trainer/data/gzip.h"

namespace taas {

class LineReader {
 public:
  static absl::StatusOr<std::unique_ptr<LineReader>> Open(FileSystem& files, std::string path,
                                                          size_t line_bytes_max);
  // Without LF or CRLF, valid until the next call; nothing at the end. A byte order mark at the
  // beginning of the file is left out.
  absl::StatusOr<std::optional<std::string_view>> Next();
  // Of the line that Next gave last, from 1.
  int64_t number() const { return number_; }

 private:
  LineReader(std::unique_ptr<GzipReader> file, std::string path, size_t line_bytes_max);
  absl::Status Refill();

  std::unique_ptr<GzipReader> file_;
  const std::string path_;
  const size_t line_bytes_max_;
  std::string buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool at_end_ = false;  // Of the file; what is in the buffer is the rest.
  int64_t number_ = 0;
};

}  // namespace taas

#endif  // TRAINER_DATA_LINE_READER_H_
