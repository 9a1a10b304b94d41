#include "dashboard/events/tensor.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "dashboard/events/wire.h"

namespace taas::dashboard {
namespace {

// tensorflow.DataType.
enum DataType : uint64_t {
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kInt64 = 9,
  kBool = 10,
  kBfloat16 = 14,
  kUint16 = 17,
  kHalf = 19,
  kUint32 = 22,
  kUint64 = 23,
};

// More dimensions than any framework has.
constexpr size_t kDimensionsMax = 254;

double FromBfloat16(uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits) << 16));
}

double FromHalf(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int mantissa = bits & 0x3ff;
  double size = 0;
  if (exponent == 0x1f) {
    size = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  } else {
    size = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 0x400, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -size : size;
}

template <typename T>
bool FromBytes(std::string_view bytes, size_t most, std::vector<double>* values) {
  if (bytes.size() % sizeof(T) != 0 || bytes.size() / sizeof(T) > most) return false;
  values->reserve(bytes.size() / sizeof(T));
  for (; !bytes.empty(); bytes.remove_prefix(sizeof(T))) {
    T value;
    std::memcpy(&value, bytes.data(), sizeof(value));
    values->push_back(static_cast<double>(value));
  }
  return true;
}

bool FromSixteenBits(std::string_view bytes, size_t most, double (*convert)(uint16_t),
                     std::vector<double>* values) {
  if (!FromBytes<uint16_t>(bytes, most, values)) return false;
  for (double& value : *values) value = convert(static_cast<uint16_t>(value));
  return true;
}

bool FromContent(uint64_t type, std::string_view bytes, size_t most,
                 std::vector<double>* values) {
  switch (type) {
    case kFloat:
      return FromBytes<float>(bytes, most, values);
    case kDouble:
      return FromBytes<double>(bytes, most, values);
    case kInt32:
      return FromBytes<int32_t>(bytes, most, values);
    case kUint8:
    case kBool:
      return FromBytes<uint8_t>(bytes, most, values);
    case kInt16:
      return FromBytes<int16_t>(bytes, most, values);
    case kInt8:
      return FromBytes<int8_t>(bytes, most, values);
    case kInt64:
      return FromBytes<int64_t>(bytes, most, values);
    case kUint16:
      return FromBytes<uint16_t>(bytes, most, values);
    case kUint32:
      return FromBytes<uint32_t>(bytes, most, values);
    case kUint64:
      return FromBytes<uint64_t>(bytes, most, values);
    case kHalf:
      return FromSixteenBits(bytes, most, FromHalf, values);
    case kBfloat16:
      return FromSixteenBits(bytes, most, FromBfloat16, values);
  }
  return false;
}

double FromVarint(uint64_t type, uint64_t varint) {
  switch (type) {
    case kHalf:
      return FromHalf(static_cast<uint16_t>(varint));
    case kBfloat16:
      return FromBfloat16(static_cast<uint16_t>(varint));
    case kUint32:
    case kUint64:
      return static_cast<double>(varint);
    default:
      return static_cast<double>(static_cast<int64_t>(varint));
  }
}

// The field of TensorProto with the numbers of a type, if not as bytes; 0: there is none.
int ListOf(uint64_t type) {
  switch (type) {
    case kFloat:
      return 5;
    case kDouble:
      return 6;
    case kInt32:
    case kUint8:
    case kInt16:
    case kInt8:
    case kUint16:
      return 7;
    case kInt64:
      return 10;
    case kBool:
      return 11;
    case kHalf:
    case kBfloat16:
      return 13;
    case kUint32:
      return 16;
    case kUint64:
      return 17;
  }
  return 0;
}

bool FromList(uint64_t type, std::string_view message, size_t most,
              std::vector<double>* values) {
  const int list = ListOf(type);
  if (list == 0) return false;
  std::vector<uint64_t> varints;
  WireReader field(message);
  while (field.Next()) {
    if (field.number() != list) continue;
    const bool fits = type == kFloat    ? field.AppendFixed<float>(most, values)
                      : type == kDouble ? field.AppendFixed<double>(most, values)
                                        : field.AppendVarints(most, &varints);
    if (!fits) return false;
  }
  for (const uint64_t varint : varints) values->push_back(FromVarint(type, varint));
  return field.ok();
}

bool ParseShape(std::string_view message, std::vector<int64_t>* shape) {
  WireReader field(message);
  while (field.Next()) {
    if (!field.Is(2, WireType::kBytes)) continue;
    if (shape->size() == kDimensionsMax) return false;
    int64_t size = 0;
    WireReader dimension(field.bytes());
    while (dimension.Next()) {
      if (dimension.Is(1, WireType::kVarint)) size = static_cast<int64_t>(dimension.varint());
    }
    if (!dimension.ok()) return false;
    shape->push_back(size);
  }
  return field.ok();
}

// Nothing if it is more than `most`.
std::optional<size_t> ElementsOf(const std::vector<int64_t>& shape, size_t most) {
  size_t elements = 1;
  bool too_many = false;
  for (const int64_t size : shape) {
    if (size < 0) return std::nullopt;
    if (size == 0) return 0;
    too_many = too_many || static_cast<uint64_t>(size) > most / elements;
    if (!too_many) elements *= static_cast<size_t>(size);
  }
  if (too_many || elements > most) return std::nullopt;
  return elements;
}

}  // namespace

std::optional<Tensor> ParseTensor(std::string_view message, size_t most) {
  uint64_t type = 0;
  std::string_view shape, content;
  WireReader field(message);
  while (field.Next()) {
    if (field.Is(1, WireType::kVarint)) type = field.varint();
    if (field.Is(2, WireType::kBytes)) shape = field.bytes();
    if (field.Is(4, WireType::kBytes)) content = field.bytes();
  }
  Tensor tensor;
  if (!field.ok() || !ParseShape(shape, &tensor.shape)) return std::nullopt;
  const std::optional<size_t> elements = ElementsOf(tensor.shape, most);
  if (!elements) return std::nullopt;
  const bool parsed = content.empty() ? FromList(type, message, most, &tensor.values)
                                      : FromContent(type, content, most, &tensor.values);
  if (!parsed) return std::nullopt;
  if (content.empty() && tensor.values.size() == 1) {
    tensor.values.resize(*elements, tensor.values[0]);
  }
  if (tensor.values.size() != *elements) return std::nullopt;
  return tensor;
}

}  // namespace taas::dashboard
