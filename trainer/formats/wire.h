// The wire format of Protocol Buffers, a field at a time, for messages that are read millions of
// times and so without generated classes.
//
// Source of the format: https://protobuf.dev/programming-guides/encoding. Groups, which proto3 does
// not have, are not read. operator/base/protobuf_slice.h does the same for messages without numbers
// of a fixed width.
//
// Ownership: a reader's fields point into the caller's bytes. Threads: one at a time. Errors: `ok`
// is false after bytes that are no message; it never reads beyond them.
//
//   WireReader reader(message);
//   while (reader.Next()) { if (reader.number() == 1) Use(reader.bytes()); }
//   if (!reader.ok()) return absl::DataLossError("no message");

#ifndef TRAINER_FORMATS_WIRE_H_
#define TRAINER_FORMATS_WIRE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace taas {

// The lowest three bits of a tag.
enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Seven bits a byte, the lowest first; the highest bit says that more follow. Takes it off the
// beginning of `bytes`; false if there is none.
inline bool TakeVarint(std::string_view* bytes, uint64_t* value) {
  uint64_t result = 0;
  size_t used = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (used == bytes->size()) return false;
    const auto byte = static_cast<unsigned char>((*bytes)[used++]);
    result |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      bytes->remove_prefix(used);
      *value = result;
      return true;
    }
  }
  return false;
}

inline void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) *out += static_cast<char>(value | 0x80);
  *out += static_cast<char>(value);
}

// A field of bytes, a string or a message.
inline void AppendBytesField(uint32_t number, std::string_view bytes, std::string* out) {
  AppendVarint(uint64_t{number} << 3 | static_cast<uint64_t>(WireType::kBytes), out);
  AppendVarint(bytes.size(), out);
  out->append(bytes);
}

class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  // False at the end and after an error.
  bool Next() {
    if (rest_.empty() || !ok_) return false;
    ok_ = Take();
    return ok_;
  }
  bool ok() const { return ok_; }

  // Of the field that Next found.
  uint32_t number() const { return number_; }
  WireType type() const { return type_; }
  std::string_view bytes() const { return bytes_; }  // Also those of a fixed width.
  uint64_t varint() const { return varint_; }

 private:
  bool Take() {
    uint64_t tag = 0;
    if (!TakeVarint(&rest_, &tag) || tag >> 3 == 0 || tag >> 3 > kNumberMax) return false;
    number_ = static_cast<uint32_t>(tag >> 3);
    type_ = static_cast<WireType>(tag & 7);
    bytes_ = {};
    uint64_t size = 0;
    switch (type_) {
      case WireType::kVarint: return TakeVarint(&rest_, &varint_);
      case WireType::kBytes: return TakeVarint(&rest_, &size) && TakeBytes(size);
      case WireType::kFixed32: return TakeBytes(sizeof(uint32_t));
      case WireType::kFixed64: return TakeBytes(sizeof(uint64_t));
    }
    return false;
  }
  bool TakeBytes(uint64_t size) {
    if (size > rest_.size()) return false;
    bytes_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  static constexpr uint64_t kNumberMax = (uint64_t{1} << 29) - 1;

  std::string_view rest_;
  bool ok_ = true;
  uint32_t number_ = 0;
  WireType type_ = WireType::kVarint;
  std::string_view bytes_;
  uint64_t varint_ = 0;
};

}  // namespace taas

#endif  // TRAINER_FORMATS_WIRE_H_
