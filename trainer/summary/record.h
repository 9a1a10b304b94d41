// TFRecord framing, of event files: length and data, each with its checksum.
//
//   record = u64le length, u32le masked crc32c(length bytes), data, u32le masked crc32c(data)
//
// Ownership: a cursor borrows its file. Threads: one at a time. Errors: of the file only; a record
// that is cut short or damaged ends the reading, since nothing after it can be found.
//
//   RETURN_IF_ERROR(file->Append(FrameRecord(event.SerializeAsString())));
//   RecordCursor cursor(*file);
//   while (const auto data = *cursor.Next()) ...

#ifndef TRAINER_SUMMARY_RECORD_H_
#define TRAINER_SUMMARY_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "operator/base/file_system.h"

namespace taas {

std::string FrameRecord(std::string_view data);

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
