#include "operator/base/terminal_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "operator/base/hidden_character.h"
#include "operator/base/utf8.h"

namespace taas {
namespace {

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
    } else if (const uint32_t point = CodePoint(character); IsHidden(point)) {
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
