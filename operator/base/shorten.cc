#include "operator/base/shorten.h"

#include "operator/base/utf8.h"

namespace taas {
namespace {

constexpr std::string_view kMark = " … ";
// A word that is longer is cut in its middle: a text without spaces must not be cut to nothing.
constexpr size_t kWordBytesMax = 24;

std::string_view HeadOf(std::string_view text, size_t bytes_max) {
  const std::string_view head = CutToCharacter(text, bytes_max);
  const size_t space = head.find_last_of(' ');
  const bool near = space != std::string_view::npos && head.size() - space <= kWordBytesMax;
  return near ? head.substr(0, space) : head;
}

std::string_view TailOf(std::string_view text, size_t bytes_max) {
  size_t begin = text.size() - bytes_max;
  // A character has at most three bytes after its first.
  for (int i = 0; i < 3 && begin < text.size() && (text[begin] & 0xC0) == 0x80; ++i) ++begin;
  const std::string_view tail = text.substr(begin);
  const size_t space = tail.find(' ');
  return space < kWordBytesMax ? tail.substr(space + 1) : tail;
}

}  // namespace

std::string Shortened(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  if (bytes_max <= kMark.size()) return std::string(CutToCharacter(text, bytes_max));
  const size_t room = bytes_max - kMark.size();
  const size_t tail = room / 3;
  return std::string(HeadOf(text, room - tail)) + std::string(kMark) +
         std::string(TailOf(text, tail));
}

}  // namespace taas
