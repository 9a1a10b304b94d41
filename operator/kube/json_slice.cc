#include "operator/kube/json_slice.h"

#include <cstdint>

#include "operator/base/status.h"
#include "operator/base/utf8.h"
#include "operator/kube/json_scanner.h"

namespace taas {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// -1: not four hexadecimal digits.
int32_t HexQuad(std::string_view text) {
  if (text.size() < 4) return -1;
  int32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = HexDigit(text[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

void AppendUtf8(uint32_t point, std::string* out) {
  if (point < 0x80) {
    *out += static_cast<char>(point);
    return;
  }
  const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  static constexpr unsigned char kLead[] = {0, 0xC0, 0xE0, 0xF0};
  *out += static_cast<char>(kLead[more] | (point >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) *out += static_cast<char>(0x80 | ((point >> (6 * i)) & 0x3F));
}

// `text` starts after "\u". Bytes of it that were used, 0: not valid.
size_t UnescapeUnicode(std::string_view text, std::string* out) {
  const int32_t unit = HexQuad(text);
  if (unit < 0) return 0;
  if (unit < 0xD800 || unit > 0xDFFF) {
    AppendUtf8(static_cast<uint32_t>(unit), out);
    return 4;
  }
  if (unit > 0xDBFF || text.size() < 10 || text[4] != '\\' || text[5] != 'u') return 0;
  const int32_t low = HexQuad(text.substr(6));
  if (low < 0xDC00 || low > 0xDFFF) return 0;
  AppendUtf8(0x10000 + ((static_cast<uint32_t>(unit) - 0xD800) << 10) +
                 (static_cast<uint32_t>(low) - 0xDC00),
             out);
  return 10;
}

}  // namespace

absl::Status ForEachMember(
    std::string_view json,
    const std::function<absl::Status(std::string_view key, std::string_view value)>& on_member) {
  JsonScanner scanner(json);
  if (!scanner.Take('{')) return scanner.Error("an object is expected");
  if (!scanner.Take('}')) {
    do {
      ASSIGN_OR_RETURN(const std::string_view quoted, scanner.String());
      if (!scanner.Take(':')) return scanner.Error("':' is expected");
      ASSIGN_OR_RETURN(const std::string_view value, scanner.Value());
      RETURN_IF_ERROR(on_member(quoted.substr(1, quoted.size() - 2), value));
    } while (scanner.Take(','));
    if (!scanner.Take('}')) return scanner.Error("',' or '}' is expected");
  }
  return scanner.AtEnd() ? absl::OkStatus() : scanner.Error("text after the end of the object");
}

absl::Status ForEachElement(std::string_view json,
                            const std::function<absl::Status(std::string_view value)>& on_element) {
  JsonScanner scanner(json);
  if (!scanner.Take('[')) return scanner.Error("an array is expected");
  if (!scanner.Take(']')) {
    do {
      ASSIGN_OR_RETURN(const std::string_view value, scanner.Value());
      RETURN_IF_ERROR(on_element(value));
    } while (scanner.Take(','));
    if (!scanner.Take(']')) return scanner.Error("',' or ']' is expected");
  }
  return scanner.AtEnd() ? absl::OkStatus() : scanner.Error("text after the end of the array");
}

absl::StatusOr<std::optional<std::string_view>> FindMember(std::string_view json,
                                                           std::string_view key) {
  std::optional<std::string_view> found;
  RETURN_IF_ERROR(ForEachMember(json, [&](std::string_view name, std::string_view value) {
    if (name == key && !found.has_value()) found = value;
    return absl::OkStatus();
  }));
  return found;
}

absl::StatusOr<std::string> StringOf(std::string_view json) {
  if (json.size() < 2 || json.front() != '"' || json.back() != '"') {
    return absl::InvalidArgumentError("a JSON string is expected, not " +
                                      std::string(json.substr(0, 40)));
  }
  const std::string_view text = json.substr(1, json.size() - 2);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      const size_t length = Utf8Length(text.substr(i));
      if (length == 0 || static_cast<unsigned char>(text[i]) < 0x20) {
        return absl::InvalidArgumentError("a byte that is no character in a JSON string");
      }
      out.append(text, i, length);
      i += length - 1;
      continue;
    }
    constexpr std::string_view kEscapes = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char c = ++i < text.size() ? text[i] : '\0';
    if (const size_t at = kEscapes.find(c); c != '\0' && at != std::string_view::npos) {
      out += kMeanings[at];
      continue;
    }
    const size_t used = c == 'u' ? UnescapeUnicode(text.substr(i + 1), &out) : 0;
    if (used == 0) return absl::InvalidArgumentError("invalid escape in a JSON string");
    i += used;
  }
  return out;
}

}  // namespace taas
