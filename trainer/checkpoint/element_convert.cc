#include "trainer/checkpoint/element_convert.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace taas {
namespace {

// IEEE 754 binary16 and the upper half of a float, as they lie in the bytes.
struct Float16 {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};
struct Bool {
  uint8_t byte;
};

template <typename T>
double Value(T number) {
  return static_cast<double>(number);
}

double Value(Bool number) { return number.byte != 0 ? 1 : 0; }

double Value(Bfloat16 number) {
  return static_cast<double>(std::bit_cast<float>(uint32_t{number.bits} << 16));
}

double Value(Float16 number) {
  constexpr int kFractionBits = 10, kExponentMax = 31, kBias = 15;
  const int exponent = (number.bits >> kFractionBits) & kExponentMax;
  const int fraction = number.bits & ((1 << kFractionBits) - 1);
  double size = 0;
  if (exponent == kExponentMax) {
    size = fraction == 0 ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    size = std::ldexp(fraction, 1 - kBias - kFractionBits);
  } else {
    size = std::ldexp((1 << kFractionBits) + fraction, exponent - kBias - kFractionBits);
  }
  return (number.bits & 0x8000) != 0 ? -size : size;
}

template <typename From, typename To, typename Convert>
void Loop(std::string_view bytes, std::span<To> out, Convert convert) {
  for (size_t i = 0; i < out.size(); ++i) {
    From number;
    std::memcpy(&number, bytes.data() + i * sizeof(From), sizeof(From));
    out[i] = convert(number);
  }
}

absl::Status CheckSize(ElementType type, std::string_view bytes, size_t count) {
  if (bytes.size() == count * static_cast<size_t>(ElementBytes(type))) return absl::OkStatus();
  return absl::InvalidArgumentError(std::to_string(bytes.size()) + " bytes are not " +
                                    std::to_string(count) + " elements of " +
                                    ElementTypeName(type));
}

template <typename To>
absl::Status ToReals(ElementType type, std::string_view bytes, std::span<To> out) {
  const auto real = [](auto number) { return static_cast<To>(Value(number)); };
  if (type != ElementType::kString) {
    if (const absl::Status size = CheckSize(type, bytes, out.size()); !size.ok()) return size;
  }
  switch (type) {
    case ElementType::kFloat32: Loop<float>(bytes, out, real); return absl::OkStatus();
    case ElementType::kFloat64: Loop<double>(bytes, out, real); return absl::OkStatus();
    case ElementType::kFloat16: Loop<Float16>(bytes, out, real); return absl::OkStatus();
    case ElementType::kBfloat16: Loop<Bfloat16>(bytes, out, real); return absl::OkStatus();
    case ElementType::kInt64: Loop<int64_t>(bytes, out, real); return absl::OkStatus();
    case ElementType::kInt32: Loop<int32_t>(bytes, out, real); return absl::OkStatus();
    case ElementType::kInt16: Loop<int16_t>(bytes, out, real); return absl::OkStatus();
    case ElementType::kInt8: Loop<int8_t>(bytes, out, real); return absl::OkStatus();
    case ElementType::kUint8: Loop<uint8_t>(bytes, out, real); return absl::OkStatus();
    case ElementType::kBool: Loop<Bool>(bytes, out, real); return absl::OkStatus();
    case ElementType::kString: break;
  }
  return absl::InvalidArgumentError(ElementTypeName(type) + " is no number");
}

}  // namespace

absl::Status ToFloats(ElementType type, std::string_view bytes, std::span<float> out) {
  if (type == ElementType::kFloat32 && bytes.size() == out.size_bytes()) {
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    return absl::OkStatus();
  }
  return ToReals(type, bytes, out);
}

absl::Status ToDoubles(ElementType type, std::string_view bytes, std::span<double> out) {
  return ToReals(type, bytes, out);
}

absl::Status ToInt64s(ElementType type, std::string_view bytes, std::span<int64_t> out) {
  const auto whole = [](auto number) { return static_cast<int64_t>(number); };
  if (type != ElementType::kString) {
    if (const absl::Status size = CheckSize(type, bytes, out.size()); !size.ok()) return size;
  }
  switch (type) {
    case ElementType::kInt64: Loop<int64_t>(bytes, out, whole); return absl::OkStatus();
    case ElementType::kInt32: Loop<int32_t>(bytes, out, whole); return absl::OkStatus();
    case ElementType::kInt16: Loop<int16_t>(bytes, out, whole); return absl::OkStatus();
    case ElementType::kInt8: Loop<int8_t>(bytes, out, whole); return absl::OkStatus();
    case ElementType::kUint8: Loop<uint8_t>(bytes, out, whole); return absl::OkStatus();
    case ElementType::kBool:
      Loop<Bool>(bytes, out, [](Bool number) { return int64_t{number.byte != 0}; });
      return absl::OkStatus();
    case ElementType::kFloat32:
    case ElementType::kFloat64:
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
    case ElementType::kString: break;
  }
  return absl::InvalidArgumentError(ElementTypeName(type) + " is no whole number");
}

std::string ToBfloat16(std::span<const float> values) {
  std::string bytes(values.size() * sizeof(uint16_t), '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t bits = std::bit_cast<uint32_t>(values[i]);
    if (std::isnan(values[i])) {
      bits |= 0x0040'0000;  // Quiet: cutting the lower half must not make an infinity of it.
    } else {
      bits += 0x7fff + ((bits >> 16) & 1);
    }
    const uint16_t half = static_cast<uint16_t>(bits >> 16);
    std::memcpy(bytes.data() + i * sizeof(half), &half, sizeof(half));
  }
  return bytes;
}

}  // namespace taas
