// A piece of a file in memory that follows its reader: large reads for small records, and no copy
// of them. Not a mapping, whose reader the kernel kills when somebody cuts the file short.
//
// Ownership: borrows the file and the buffer; the buffer is made once and lent to one window after
// the other. Threads: one at a time. Errors: the file's.
//
//   ReadBuffer buffer;
//   FileWindow window(file, &buffer);
//   ASSIGN_OR_RETURN(std::string_view head, window.At(place, 12));  // Valid until the next At.

#ifndef DASHBOARD_EVENTS_FILE_WINDOW_H_
#define DASHBOARD_EVENTS_FILE_WINDOW_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "operator/base/directory.h"

namespace taas::dashboard {

// Large enough that a system call costs nothing beside what it reads; small enough for the cache.
inline constexpr size_t kWindowBytes = 256 << 10;

struct ReadBuffer {
  std::unique_ptr<char[]> bytes;
  size_t capacity = 0;
};

class FileWindow {
 public:
  FileWindow(const OpenFile& file, ReadBuffer* buffer) : file_(file), buffer_(*buffer) {}

  // `size` bytes at `offset`, or as many as the file has there.
  absl::StatusOr<std::string_view> At(uint64_t offset, size_t size);

 private:
  const OpenFile& file_;
  ReadBuffer& buffer_;
  uint64_t begin_ = 0;
  size_t filled_ = 0;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_EVENTS_FILE_WINDOW_H_
