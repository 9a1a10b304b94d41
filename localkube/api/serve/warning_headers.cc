#include "localkube/api/serve/warning_headers.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "operator/base/utf8.h"

namespace taas::localkube {
namespace {

// The bytes of the first `characters` of a text that is UTF-8, and how many characters these are.
struct Front {
  size_t bytes = 0;
  size_t characters = 0;
};

Front FrontOf(std::string_view text, size_t characters) {
  Front front;
  while (front.bytes < text.size() && front.characters < characters) {
    front.bytes += std::max<size_t>(Utf8Length(text.substr(front.bytes)), 1);
    ++front.characters;
  }
  return front;
}

bool IsControl(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  // C1, which some terminals take like ESC.
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

std::string Header(std::string_view text) {
  std::string out = "299 - \"";
  while (!text.empty()) {
    const std::string_view character =
        text.substr(0, std::max<size_t>(Utf8Length(text), 1));
    text.remove_prefix(character.size());
    if (IsControl(character)) {
      out += ' ';
      continue;
    }
    if (character == "\"" || character == "\\") out += '\\';
    out += character;
  }
  return out + "\"";
}

// Each of the sentences up to so many characters, until all have kWarningCharactersMax; false: not
// all of them are there as they were.
bool Write(const std::vector<std::string>& sentences, size_t characters_each,
           std::vector<std::string>* headers) {
  size_t written = 0;
  bool whole = true;
  for (const std::string& sentence : sentences) {
    if (written >= kWarningCharactersMax) return false;
    const Front front = FrontOf(sentence, characters_each);
    written += front.characters;
    whole = whole && front.bytes == sentence.size() && written <= kWarningCharactersMax;
    headers->push_back(Header(std::string_view(sentence).substr(0, front.bytes)));
  }
  return whole;
}

}  // namespace

std::vector<std::string> WarningHeaders(const std::vector<std::string>& warnings) {
  std::vector<std::string> sentences;
  std::set<std::string> seen;
  for (const std::string& warning : warnings) {
    std::string text = WithValidUtf8(warning);
    if (!text.empty() && seen.insert(text).second) sentences.push_back(std::move(text));
  }
  std::vector<std::string> headers;
  if (Write(sentences, kWarningCharactersMax, &headers)) return headers;
  headers.clear();
  Write(sentences, kCutWarningCharacters, &headers);
  return headers;
}

}  // namespace taas::localkube
