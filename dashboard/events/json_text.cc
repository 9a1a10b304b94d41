#include "dashboard/events/json_text.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "operator/base/utf8.h"

namespace taas::dashboard {
namespace {

template <typename Integer>
void AppendInteger(Integer number, std::string* out) {
  char text[24];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), number);
  out->append(text, end);
}

void AppendEscaped(char unit, std::string* out) {
  char text[8];
  std::snprintf(text, sizeof(text), "\\u%04x", static_cast<unsigned char>(unit));
  *out += text;
}

}  // namespace

void AppendPythonFloat(double number, std::string* out) {
  if (std::isnan(number)) {
    *out += "nan";
    return;
  }
  if (std::isinf(number)) {
    *out += number < 0 ? "-inf" : "inf";
    return;
  }
  // From here on Python writes an exponent, below it digits only. The longest fixed text has 17
  // digits, four zeros, a sign and a point.
  constexpr double kLarge = 1e16, kSmall = 1e-4;
  const double size = std::abs(number);
  const bool is_scientific = size >= kLarge || (size < kSmall && size != 0);
  char text[40];
  const auto [end, error] =
      std::to_chars(text, text + sizeof(text), number,
                    is_scientific ? std::chars_format::scientific : std::chars_format::fixed);
  const std::string_view digits(text, static_cast<size_t>(end - text));
  *out += digits;
  if (!is_scientific && digits.find('.') == std::string_view::npos) *out += ".0";
}

void AppendJson(double number, std::string* out) {
  if (std::isfinite(number)) return AppendPythonFloat(number, out);
  *out += std::isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
}

void AppendJson(int64_t number, std::string* out) { AppendInteger(number, out); }
void AppendJson(uint64_t number, std::string* out) { AppendInteger(number, out); }

void AppendJson(std::string_view text, std::string* out) {
  *out += '"';
  for (const char unit : WithValidUtf8(text)) {
    if (unit == '"' || unit == '\\') {
      *out += '\\';
      *out += unit;
    } else if (static_cast<unsigned char>(unit) < 0x20) {
      AppendEscaped(unit, out);
    } else {
      *out += unit;
    }
  }
  *out += '"';
}

std::string PythonQuoted(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char unit : WithValidUtf8(text)) {
    if (unit == quote || unit == '\\') {
      out += '\\';
      out += unit;
    } else if (unit == '\n' || unit == '\r' || unit == '\t') {
      out += unit == '\n' ? "\\n" : unit == '\r' ? "\\r" : "\\t";
    } else if (static_cast<unsigned char>(unit) < 0x20 || unit == 0x7f) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\x%02x", static_cast<unsigned char>(unit));
      out += code;
    } else {
      out += unit;
    }
  }
  return out + quote;
}

}  // namespace taas::dashboard
