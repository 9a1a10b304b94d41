#include "operator/base/finite.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace taas {
namespace {

// A part is looked through without a branch, which the compiler makes vectors of.
constexpr size_t kPart = 4096;

bool AllFinite(std::span<const float> values) {
  // All bits of the exponent are 1 in NaN and infinities, and in nothing else.
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t bad = 0;
  for (const float value : values) {
    bad |= (std::bit_cast<uint32_t>(value) & kExponent) == kExponent ? 1u : 0u;
  }
  return bad == 0;
}

}  // namespace

size_t FindNonFinite(std::span<const float> values) {
  for (size_t begin = 0; begin < values.size(); begin += kPart) {
    const auto part = values.subspan(begin, std::min(kPart, values.size() - begin));
    if (AllFinite(part)) continue;
    const auto bad = std::ranges::find_if_not(part, [](float x) { return std::isfinite(x); });
    return begin + static_cast<size_t>(bad - part.begin());
  }
  return values.size();
}

std::string FirstNonFinite(std::span<const float> values) {
  const size_t at = FindNonFinite(values);
  if (at == values.size()) return "";
  return "element " + std::to_string(at) + " is " + (std::isnan(values[at]) ? "NaN" : "infinite");
}

}  // namespace taas
