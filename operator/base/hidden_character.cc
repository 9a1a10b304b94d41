#include "operator/base/hidden_character.h"

#include <algorithm>
#include <iterator>

namespace taas {
namespace {

struct Range {
  uint32_t first, last;
};

constexpr Range kHidden[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c},
                             {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};

}  // namespace

uint32_t CodePoint(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return lead;
  uint32_t point = lead & (0x7fu >> character.size());
  for (const char c : character.substr(1)) {
    point = point << 6 | (static_cast<unsigned char>(c) & 0x3fu);
  }
  return point;
}

bool IsHidden(uint32_t point) {
  return std::any_of(std::begin(kHidden), std::end(kHidden), [point](const Range& range) {
    return range.first <= point && point <= range.last;
  });
}

}  // namespace taas
