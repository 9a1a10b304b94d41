#include "trainer/formats/record_frame.h"

#include <cstring>

#include "operator/base/crc32c.h"

namespace taas {
namespace {

// Little-endian, as is every machine that this tree is built for.
template <typename T>
void AppendNumber(T value, std::string* out) {
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  out->append(bytes, sizeof(bytes));
}

template <typename T>
T NumberAt(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

}  // namespace

void AppendRecord(std::string_view data, std::string* out) {
  const uint64_t length = data.size();
  const std::string_view length_bytes(reinterpret_cast<const char*>(&length), sizeof(length));
  out->append(length_bytes);
  AppendNumber<uint32_t>(MaskedCrc32c(length_bytes), out);
  out->append(data);
  AppendNumber<uint32_t>(MaskedCrc32c(data), out);
}

std::string FrameRecord(std::string_view data) {
  std::string out;
  out.reserve(kRecordHeadBytes + data.size() + kRecordFootBytes);
  AppendRecord(data, &out);
  return out;
}

std::optional<uint64_t> RecordLength(const char* head) {
  const std::string_view length(head, sizeof(uint64_t));
  if (MaskedCrc32c(length) != NumberAt<uint32_t>(head + sizeof(uint64_t))) return std::nullopt;
  return NumberAt<uint64_t>(head);
}

bool RecordDataIsWhole(std::string_view data, const char* foot) {
  return MaskedCrc32c(data) == NumberAt<uint32_t>(foot);
}

}  // namespace taas
