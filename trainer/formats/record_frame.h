// How TFRecord files and event files frame what they hold: a length and data, each with its
// checksum.
//
//   record = u64le length, u32le masked crc32c(the 8 bytes of length), data,
//            u32le masked crc32c(data)
//
// Source of the format: tensorflow/core/lib/io/record_writer.h. A file is such records, one after
// the other; compression is of the whole file.
//
// Ownership: pure functions. Threads: any. Errors: none; a wrong checksum is an answer.
//
//   RETURN_IF_ERROR(file->Append(FrameRecord(event.SerializeAsString())));
//   const std::optional<uint64_t> length = RecordLength(head);
//   if (length && RecordDataIsWhole(data, foot)) ...

#ifndef TRAINER_FORMATS_RECORD_FRAME_H_
#define TRAINER_FORMATS_RECORD_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace taas {

inline constexpr size_t kRecordHeadBytes = 12;
inline constexpr size_t kRecordFootBytes = 4;

std::string FrameRecord(std::string_view data);
// The same, behind what `out` holds already.
void AppendRecord(std::string_view data, std::string* out);

// Of the first kRecordHeadBytes of a record; nothing if their checksum is wrong: then nobody can
// tell where the next record begins.
std::optional<uint64_t> RecordLength(const char* head);
// `foot` points to the kRecordFootBytes after the data.
bool RecordDataIsWhole(std::string_view data, const char* foot);

}  // namespace taas

#endif  // TRAINER_FORMATS_RECORD_FRAME_H_
