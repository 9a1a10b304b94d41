// Steps through a message of Protocol Buffers field by field, without memory of its own: event
// files are hundreds of megabytes of small messages, of which a few fields are wanted.
//
// Unlike operator/base/protobuf_slice.h it gives fields of a fixed width, which doubles and floats
// are. Groups, which nothing has used for fifteen years, are refused.
//
// Ownership: points into the caller's bytes. Threads: one at a time. Errors: `ok()` is false once
// the bytes are no message.
//
//   WireReader field(message);
//   while (field.Next()) if (field.Is(1, WireType::kFixed64)) wall = field.AsDouble();
//   if (!field.ok()) ...

#ifndef DASHBOARD_EVENTS_WIRE_H_
#define DASHBOARD_EVENTS_WIRE_H_

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace taas::dashboard {

// The lowest three bits of a tag.
enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  // To the next field; false at the end and where the bytes are no message.
  bool Next() {
    uint64_t tag = 0;
    if (rest_.empty() || !ok_) return false;
    if (!TakeVarint(&tag) || tag >> 3 == 0 || tag >> 3 > kNumberMax) return Fail();
    number_ = static_cast<int>(tag >> 3);
    type_ = static_cast<WireType>(tag & 7);
    switch (type_) {
      case WireType::kVarint:
        return TakeVarint(&varint_) || Fail();
      case WireType::kFixed64:
        return TakeBytes(sizeof(uint64_t)) || Fail();
      case WireType::kFixed32:
        return TakeBytes(sizeof(uint32_t)) || Fail();
      case WireType::kBytes:
        return (TakeVarint(&varint_) && TakeBytes(varint_)) || Fail();
    }
    return Fail();
  }
  bool ok() const { return ok_; }

  // A field of a number that is known but of another type counts as unknown, as for protobuf.
  bool Is(int number, WireType type) const { return number_ == number && type_ == type; }
  int number() const { return number_; }

  uint64_t varint() const { return varint_; }
  std::string_view bytes() const { return bytes_; }
  double AsDouble() const { return Load<double>(bytes_.data()); }
  float AsFloat() const { return Load<float>(bytes_.data()); }

  // Of a repeated field of numbers, packed or one by one: appends what this field holds. False if
  // it is of another type or `values` would be longer than `most`.
  template <typename T>
  bool AppendFixed(size_t most, std::vector<double>* values) const {
    constexpr WireType kSingle = sizeof(T) == 8 ? WireType::kFixed64 : WireType::kFixed32;
    if ((type_ != kSingle && type_ != WireType::kBytes) || bytes_.size() % sizeof(T) != 0) {
      return false;
    }
    const size_t count = bytes_.size() / sizeof(T);
    if (count > most || values->size() > most - count) return false;
    const size_t before = values->size();
    values->resize(before + count);
    for (size_t i = 0; i < count; ++i) {
      (*values)[before + i] = static_cast<double>(Load<T>(bytes_.data() + i * sizeof(T)));
    }
    return true;
  }
  bool AppendVarints(size_t most, std::vector<uint64_t>* values) const;

 private:
  static constexpr uint64_t kNumberMax = (uint64_t{1} << 29) - 1;

  // Little-endian, as is every machine that this tree is built for.
  template <typename T>
  static T Load(const char* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof(value));
    return value;
  }

  bool Fail() {
    ok_ = false;
    return false;
  }

  // Seven bits a byte, the lowest first; the highest bit says that more follow.
  bool TakeVarint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return false;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool TakeBytes(uint64_t size) {
    if (size > rest_.size()) return false;
    bytes_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  std::string_view rest_;
  std::string_view bytes_;
  uint64_t varint_ = 0;
  int number_ = 0;
  WireType type_ = WireType::kVarint;
  bool ok_ = true;
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_EVENTS_WIRE_H_
