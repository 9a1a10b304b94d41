#include "operator/kube/http/warning_header.h"

#include <cstddef>
#include <optional>

namespace taas {
namespace {

constexpr std::string_view kBetween = " \t,";

void Skip(std::string_view characters, std::string_view* text) {
  const size_t at = text->find_first_not_of(characters);
  text->remove_prefix(at == std::string_view::npos ? text->size() : at);
}

// A quoted string of RFC 9110 at the beginning of `text`, which is behind it then.
std::optional<std::string> TakeQuoted(std::string_view* text) {
  if (text->empty() || text->front() != '"') return std::nullopt;
  std::string out;
  for (size_t i = 1; i < text->size(); ++i) {
    const char c = (*text)[i];
    if (c == '"') {
      text->remove_prefix(i + 1);
      return out;
    }
    if (c == '\\' && i + 1 < text->size()) ++i;
    out += (*text)[i];
  }
  return std::nullopt;
}

// CODE AGENT "TEXT" ["DATE"] (RFC 7234, 5.5).
std::optional<std::string> TakeWarning(std::string_view* text) {
  const size_t code = text->find(' ');
  if (code != 3 || text->find_first_not_of("0123456789") != code) return std::nullopt;
  text->remove_prefix(code + 1);
  const size_t agent = text->find(' ');
  if (agent == std::string_view::npos) return std::nullopt;
  text->remove_prefix(agent + 1);
  std::optional<std::string> out = TakeQuoted(text);
  if (out.has_value() && text->substr(0, 2) == " \"") {
    text->remove_prefix(1);
    TakeQuoted(text);
  }
  return out;
}

}  // namespace

std::vector<std::string> ReadWarnings(std::string_view header) {
  std::vector<std::string> out;
  for (Skip(kBetween, &header); !header.empty(); Skip(kBetween, &header)) {
    const std::string_view rest = header;
    std::optional<std::string> text = TakeWarning(&header);
    if (!text.has_value()) {
      out.emplace_back(rest);
      break;
    }
    out.push_back(*std::move(text));
  }
  return out;
}

}  // namespace taas
