#include "trainer/summary/record.h"

#include <cstring>

#include "operator/base/crc32c.h"
#include "operator/base/status.h"

namespace taas {
namespace {

constexpr uint64_t kHeadBytes = 12;
constexpr uint64_t kFootBytes = 4;

// Little-endian, as is every machine that this tree is built for.
template <typename T>
std::string Bytes(T value) {
  std::string text(sizeof(value), '\0');
  std::memcpy(text.data(), &value, sizeof(value));
  return text;
}

template <typename T>
T FromBytes(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

}  // namespace

std::string FrameRecord(std::string_view data) {
  const std::string length = Bytes<uint64_t>(data.size());
  return length + Bytes<uint32_t>(MaskedCrc32c(length)) + std::string(data) +
         Bytes<uint32_t>(MaskedCrc32c(data));
}

absl::StatusOr<std::optional<std::string>> RecordCursor::Next(uint64_t size_max) {
  for (;;) {
    char head[kHeadBytes];
    ASSIGN_OR_RETURN(const size_t got, file_.ReadAt(offset_, kHeadBytes, head));
    if (got < kHeadBytes) return std::optional<std::string>();
    const auto length = FromBytes<uint64_t>(head);
    const auto crc = FromBytes<uint32_t>(head + sizeof(uint64_t));
    if (MaskedCrc32c(std::string_view(head, sizeof(uint64_t))) != crc) {
      return std::optional<std::string>();
    }
    const uint64_t start = offset_ + kHeadBytes;
    if (length > size_max) {
      offset_ = start + length + kFootBytes;
      continue;
    }
    std::string data(length + kFootBytes, '\0');
    ASSIGN_OR_RETURN(const size_t read, file_.ReadAt(start, data.size(), data.data()));
    if (read < data.size()) return std::optional<std::string>();
    const auto data_crc = FromBytes<uint32_t>(data.data() + length);
    data.resize(length);
    if (MaskedCrc32c(data) != data_crc) return std::optional<std::string>();
    offset_ = start + length + kFootBytes;
    return std::optional<std::string>(std::move(data));
  }
}

}  // namespace taas
