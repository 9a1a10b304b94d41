#include "operator/base/last_words.h"

#include <utility>
#include <vector>

#include "operator/base/utf8.h"

namespace taas {
namespace {

constexpr char kEscape = 0x1b;
constexpr std::string_view kCut = "…";

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Where a terminal's sequence that begins at `at` ("\x1b[31m") ends; `at` + 1: none does.
size_t EndOfEscape(std::string_view text, size_t at) {
  if (at + 1 >= text.size() || text[at + 1] != '[') return at + 1;
  size_t end = at + 2;
  while (end < text.size() && text[end] >= 0x20 && text[end] < 0x40) ++end;
  return end < text.size() && !IsControl(text[end]) ? end + 1 : end;
}

// Without colours, other control characters and the room around it.
std::string Plain(std::string_view line) {
  std::string plain;
  for (size_t i = 0; i < line.size();) {
    if (line[i] == kEscape) {
      i = EndOfEscape(line, i);
      continue;
    }
    plain += IsControl(line[i]) ? ' ' : line[i];
    ++i;
  }
  const size_t first = plain.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return plain.substr(first, plain.find_last_not_of(' ') - first + 1);
}

// What our programs end a complaint about their usage with: the line before it says what is wrong.
bool IsHintAtHelp(std::string_view line) {
  return line.starts_with("Run `") && line.ends_with("--help` for more information.");
}

// Those that say something, the last one first.
std::vector<std::string> LinesFromTheEnd(std::string_view text) {
  std::vector<std::string> lines;
  size_t bytes = 0;
  while (!text.empty() && bytes <= kLastWordsBytesMax) {
    const size_t end = text.find_last_of("\r\n");
    const size_t begin = end == std::string_view::npos ? 0 : end + 1;
    std::string line = Plain(text.substr(begin));
    text = text.substr(0, begin == 0 ? 0 : end);
    if (line.empty() || (lines.empty() && IsHintAtHelp(line))) continue;
    bytes += line.size();
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

std::string LastLine(std::string_view text) {
  const std::vector<std::string> lines = LinesFromTheEnd(text);
  if (lines.empty()) return "";
  const std::string& last = lines.front();
  if (last.size() <= kLastWordsBytesMax) return last;
  return std::string(CutToCharacter(last, kLastWordsBytesMax - kCut.size())) + std::string(kCut);
}

std::string LastWords(std::string_view text) {
  const std::vector<std::string> lines = LinesFromTheEnd(text);
  if (lines.empty() || lines.front().size() > kLastWordsBytesMax) return LastLine(text);
  const std::string& last = lines.front();
  constexpr std::string_view kBefore = " (after: ", kBetween = " | ", kEnd = ")";
  std::string before;
  for (size_t i = 1; i < lines.size(); ++i) {
    const size_t more = lines[i].size() + (before.empty() ? 0 : kBetween.size());
    const size_t frame = kBefore.size() + kEnd.size();
    if (last.size() + frame + before.size() + more > kLastWordsBytesMax) break;
    before = before.empty() ? lines[i] : lines[i] + std::string(kBetween) + before;
  }
  if (before.empty()) return last;
  return last + std::string(kBefore) + before + std::string(kEnd);
}

}  // namespace taas
