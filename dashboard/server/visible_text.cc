#include "dashboard/server/visible_text.h"

#include <algorithm>
#include <cstdint>

#include "operator/base/hidden_character.h"
#include "operator/base/utf8.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

// Most texts have none of what must be looked at.
bool MayHide(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F || byte == 0xC2 ||
         byte == 0xE2;
}

bool IsBetween(uint32_t code, uint32_t from, uint32_t to) { return code >= from && code <= to; }

void AppendVisible(std::string_view character, std::string* out) {
  const uint32_t code = CodePoint(character);
  if (code == '\n' || code == '\t') {
    *out += character;
  } else if (code < 0x20 || code == 0x7F) {
    // U+2400 to U+2421.
    *out += "\xE2\x90";
    *out += static_cast<char>(code == 0x7F ? 0xA1 : 0x80 + code);
  } else if (IsBetween(code, 0x80, 0x9F) || IsBetween(code, 0x2028, 0x2029) ||
             IsBetween(code, 0x202A, 0x202E) || IsBetween(code, 0x2066, 0x2069)) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    *out += "⟨";
    for (int shift = 12; shift >= 0; shift -= 4) *out += kDigits[code >> shift & 0xF];
    *out += "⟩";
  } else {
    *out += character;
  }
}

}  // namespace

std::string VisibleText(std::string_view text) {
  if (std::none_of(text.begin(), text.end(), MayHide)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) {
      out += text[0];
    } else {
      AppendVisible(text.substr(0, length), &out);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

void MakeTextsVisible(nlohmann::json* value) {
  if (value->is_string()) {
    auto& text = value->get_ref<std::string&>();
    if (std::any_of(text.begin(), text.end(), MayHide)) text = VisibleText(text);
  } else if (value->is_structured()) {
    for (nlohmann::json& member : *value) MakeTextsVisible(&member);
  }
}

}  // namespace taas::dashboard
