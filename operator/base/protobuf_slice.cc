#include "operator/base/protobuf_slice.h"

#include "operator/base/status.h"

namespace taas {
namespace {

// The lowest three bits of a tag.
enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
constexpr int kWireTypeBits = 3;

absl::Status Malformed() { return absl::InvalidArgumentError("the bytes are no protobuf"); }

// Seven bits a byte, the lowest first; the highest bit says that more follow.
bool TakeVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes->empty()) return false;
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

void AppendVarint(uint64_t value, std::string* message) {
  for (; value >= 0x80; value >>= 7) *message += static_cast<char>(value | 0x80);
  *message += static_cast<char>(value);
}

bool Drop(size_t size, std::string_view* bytes) {
  if (bytes->size() < size) return false;
  bytes->remove_prefix(size);
  return true;
}

}  // namespace

absl::Status ForEachField(std::string_view message,
                          absl::FunctionRef<absl::Status(const ProtobufField& field)> on_field) {
  while (!message.empty()) {
    uint64_t tag = 0, number = 0;
    if (!TakeVarint(&message, &tag) || tag >> kWireTypeBits > INT32_MAX) return Malformed();
    ProtobufField field{.number = static_cast<int>(tag >> kWireTypeBits)};
    switch (tag & ((1 << kWireTypeBits) - 1)) {
      case kVarint:
        if (!TakeVarint(&message, &field.varint)) return Malformed();
        break;
      case kBytes:
        if (!TakeVarint(&message, &number) || number > message.size()) return Malformed();
        field.has_bytes = true;
        field.bytes = message.substr(0, number);
        message.remove_prefix(number);
        break;
      case kFixed64:
        if (!Drop(sizeof(uint64_t), &message)) return Malformed();
        continue;
      case kFixed32:
        if (!Drop(sizeof(uint32_t), &message)) return Malformed();
        continue;
      default:
        return Malformed();
    }
    RETURN_IF_ERROR(on_field(field));
  }
  return absl::OkStatus();
}

void AppendField(int number, std::string_view bytes, std::string* message) {
  AppendVarint(static_cast<uint64_t>(number) << kWireTypeBits | kBytes, message);
  AppendVarint(bytes.size(), message);
  *message += bytes;
}

void AppendField(int number, uint64_t varint, std::string* message) {
  AppendVarint(static_cast<uint64_t>(number) << kWireTypeBits | kVarint, message);
  AppendVarint(varint, message);
}

}  // namespace taas
