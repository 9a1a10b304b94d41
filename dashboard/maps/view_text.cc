#include "dashboard/maps/view_text.h"

#include <algorithm>

#include "operator/api/json_field.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

bool IsPlain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

std::string_view Shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  const auto continues = [&](size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  while (most > 0 && continues(most)) --most;
  return text.substr(0, most);
}

}  // namespace

void AppendQuoted(std::string_view text, std::string* out, size_t most) {
  text = Shortened(text, most);
  if (!std::all_of(text.begin(), text.end(), IsPlain)) {
    *out += DumpJson(std::string(text));
    return;
  }
  *out += '"';
  *out += text;
  *out += '"';
}

void AppendText(std::string_view key, std::string_view text, std::string* out, size_t most) {
  if (text.empty()) return;
  *out += ",\"";
  *out += key;
  *out += "\":";
  AppendQuoted(text, out, most);
}

void AppendNumber(std::string_view key, int64_t number, std::string* out) {
  *out += ",\"";
  *out += key;
  *out += "\":";
  *out += std::to_string(number);
}

void AppendComma(std::string* out) {
  if (!out->empty() && out->back() != '[' && out->back() != '{') *out += ',';
}

}  // namespace taas::dashboard
