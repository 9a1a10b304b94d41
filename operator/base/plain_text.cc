#include "operator/base/plain_text.h"

#include <algorithm>

#include "operator/base/hidden_character.h"
#include "operator/base/utf8.h"

namespace taas {

std::string PlainText(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(character.size());
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (IsHidden(CodePoint(character))) {
      out += ' ';
    } else {
      out += character;
    }
  }
  return out;
}

}  // namespace taas
