// Reads the records of an event file that somebody may still be writing.
//
// The format is that of trainer/formats/record_frame.h. trainer/data/record_file.h reads files that
// are complete, and faster.
//
// Ownership: a cursor borrows its file. Threads: one at a time. Errors: of the file only; a record
// that is cut short or damaged ends the reading, since it may not be whole yet.
//
//   RecordCursor cursor(*file);
//   while (const auto data = *cursor.Next(size_max)) ...

#ifndef TRAINER_SUMMARY_RECORD_H_
#define TRAINER_SUMMARY_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"

namespace taas {

class RecordCursor {
 public:
  explicit RecordCursor(const RandomReadFile& file) : file_(file) {}
  // Nothing at the end, before a record that is not whole yet, and before a damaged one. Records of
  // more than `size_max` bytes are passed over unread.
  absl::StatusOr<std::optional<std::string>> Next(uint64_t size_max);

 private:
  const RandomReadFile& file_;
  uint64_t offset_ = 0;
};

}  // namespace taas

#endif  // TRAINER_SUMMARY_RECORD_H_
