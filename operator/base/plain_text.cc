#include "operator/base/plain_text.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "operator/base/utf8.h"

namespace taas {
namespace {

struct Range {
  uint32_t first, last;
};

// C0 and C1 control characters, separators of lines and paragraphs, and what turns the direction of
// writing, so that a text reads otherwise than it is (Unicode TR 36, 3.1).
constexpr Range kHidden[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c},
                             {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};

// Of a whole character.
uint32_t PointOf(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return lead;
  uint32_t point = lead & (0x7f >> character.size());
  for (const char c : character.substr(1)) {
    point = point << 6 | (static_cast<unsigned char>(c) & 0x3f);
  }
  return point;
}

bool IsHidden(uint32_t point) {
  return std::any_of(std::begin(kHidden), std::end(kHidden), [point](const Range& range) {
    return range.first <= point && point <= range.last;
  });
}

}  // namespace

std::string PlainText(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(character.size());
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (IsHidden(PointOf(character))) {
      out += ' ';
    } else {
      out += character;
    }
  }
  return out;
}

}  // namespace taas
