#include "trainer/summary/record.h"

#include <utility>

#include "operator/base/status.h"
#include "trainer/formats/record_frame.h"

namespace taas {

absl::StatusOr<std::optional<std::string>> RecordCursor::Next(uint64_t size_max) {
  for (;;) {
    char head[kRecordHeadBytes];
    ASSIGN_OR_RETURN(const size_t got, file_.ReadAt(offset_, sizeof(head), head));
    if (got < sizeof(head)) return std::optional<std::string>();
    const std::optional<uint64_t> length = RecordLength(head);
    if (!length) return std::optional<std::string>();
    const uint64_t start = offset_ + kRecordHeadBytes;
    // A length that was made to harm may lead back to the beginning, and round again.
    ASSIGN_OR_RETURN(const uint64_t size, file_.Size());
    if (start > size || *length > size - start) return std::optional<std::string>();
    if (*length > size_max) {
      offset_ = start + *length + kRecordFootBytes;
      continue;
    }
    std::string data(*length + kRecordFootBytes, '\0');
    ASSIGN_OR_RETURN(const size_t read, file_.ReadAt(start, data.size(), data.data()));
    if (read < data.size()) return std::optional<std::string>();
    const char* const foot = data.data() + *length;
    if (!RecordDataIsWhole({data.data(), *length}, foot)) return std::optional<std::string>();
    data.resize(*length);
    offset_ = start + *length + kRecordFootBytes;
    return std::optional<std::string>(std::move(data));
  }
}

}  // namespace taas
