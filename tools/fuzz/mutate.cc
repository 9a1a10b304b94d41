#include "tools/fuzz/mutate.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace taas {
namespace {

constexpr uint64_t kChangesMax = 6;
constexpr size_t kPieceMax = 64;

// At which sums and products wrap around.
constexpr uint64_t kNumbers[] = {0,          1,          0x7f,       0x80,
                                 0xff,       0x7fff,     0x8000,     0xffff,
                                 0x7fffffff, 0x80000000, 0xffffffff, uint64_t{1} << 32,
                                 uint64_t{1} << 62, ~uint64_t{0} >> 1, uint64_t{1} << 63,
                                 ~uint64_t{0} - 4, ~uint64_t{0}};
constexpr std::string_view kWords[] = {
    "-1", "0", "1e999", "9223372036854775807", "18446744073709551616", "null", "[]", "{}", "\"",
    "\\u0000", "\xff\xfe", "\n", "\r\n", "~1", "../", "%00", "[[[[[[[[", "{\"a\":{\"a\":", "NaN",
    "&a [*a]", ":", ",", "=", "!", "'"};

size_t PlaceIn(const std::string& text, Random& random) { return random.Below(text.size() + 1); }

std::string Piece(const std::string& text, Random& random) {
  const size_t at = PlaceIn(text, random);
  return text.substr(at, 1 + random.Below(kPieceMax));
}

std::string RandomBytes(Random& random) {
  std::string bytes(1 + random.Below(8), '\0');
  for (char& c : bytes) c = static_cast<char>(random.Next());
  return bytes;
}

std::string Number(Random& random) {
  uint64_t number = kNumbers[random.Below(std::size(kNumbers))];
  if (random.Below(4) == 0) number += random.Below(5) - 2;
  const size_t size = size_t{1} << random.Below(4);
  std::string bytes(size, '\0');
  const bool big = random.Below(4) == 0;
  for (size_t i = 0; i < size; ++i) {
    bytes[big ? size - 1 - i : i] = static_cast<char>(number >> (8 * i));
  }
  return bytes;
}

void Overwrite(const std::string& bytes, std::string* text, Random& random) {
  const size_t at = PlaceIn(*text, random);
  text->replace(at, std::min(bytes.size(), text->size() - at), bytes);
}

void Change(std::span<const std::string> corpus, std::string* text, Random& random) {
  const size_t at = PlaceIn(*text, random);
  switch (random.Below(9)) {
    case 0:
      if (at < text->size()) (*text)[at] ^= static_cast<char>(1 << random.Below(8));
      return;
    case 1: return Overwrite(RandomBytes(random), text, random);
    case 2: return Overwrite(Number(random), text, random);
    case 3: text->insert(at, RandomBytes(random)); return;
    case 4: text->erase(at, 1 + random.Below(kPieceMax)); return;
    case 5: text->insert(at, Piece(*text, random)); return;
    case 6: text->insert(at, Piece(corpus[random.Below(corpus.size())], random)); return;
    case 7: text->insert(at, kWords[random.Below(std::size(kWords))]); return;
    default: text->resize(at); return;
  }
}

}  // namespace

std::string Mutate(std::span<const std::string> corpus, Random& random) {
  std::string text = corpus[random.Below(corpus.size())];
  for (uint64_t left = 1 + random.Below(kChangesMax); left > 0; --left) {
    Change(corpus, &text, random);
  }
  text.resize(std::min(text.size(), kFuzzBytesMax));
  return text;
}

}  // namespace taas
