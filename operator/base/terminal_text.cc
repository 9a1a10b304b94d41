#include "operator/base/terminal_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>

#include "operator/base/utf8.h"

namespace taas {
namespace {

struct Range {
  uint32_t first, last;
};

// C0 and C1, DEL among them; the marks of direction of Unicode TR 36, 3.1; what begins a line.
constexpr Range kCarriedOut[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c},
                                 {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};

// Of a whole character.
uint32_t PointOf(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return lead;
  uint32_t point = lead & (0x7fu >> character.size());
  for (const char c : character.substr(1)) {
    point = point << 6 | (static_cast<unsigned char>(c) & 0x3fu);
  }
  return point;
}

bool IsCarriedOut(uint32_t point) {
  return std::any_of(std::begin(kCarriedOut), std::end(kCarriedOut), [point](const Range& range) {
    return range.first <= point && point <= range.last;
  });
}

std::string Shown(std::string_view text, bool in_one_line) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(character.size());
    const bool breaks = character == "\n" || character == "\t";
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (breaks) {
      out += !in_one_line ? character : character == "\n" ? "\\n" : "\\t";
    } else if (const uint32_t point = PointOf(character); IsCarriedOut(point)) {
      char escaped[16];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", point);
      out += escaped;
    } else {
      out += character;
    }
  }
  return out;
}

}  // namespace

std::string TerminalText(std::string_view text) { return Shown(text, /*in_one_line=*/false); }

std::string TerminalCell(std::string_view text) { return Shown(text, /*in_one_line=*/true); }

}  // namespace taas
