#include "trainer/use/shown_text.h"

#include <cstddef>

#include "operator/base/terminal_text.h"

namespace taas {
namespace {

// Of a character that begins so (RFC 3629); 1 of what begins none.
size_t LengthByFirst(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte >= 0xF0 && byte <= 0xF4) return 4;
  if (byte >= 0xE0 && byte <= 0xEF) return 3;
  return byte >= 0xC2 && byte <= 0xDF ? 2 : 1;
}

bool Continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

std::string ShownText::Add(char byte) {
  std::string shown;
  // The one before was never finished.
  if (!held_.empty() && !Continues(byte)) shown = Rest();
  held_ += byte;
  if (held_.size() >= LengthByFirst(held_.front())) shown += Rest();
  return shown;
}

std::string ShownText::Rest() {
  std::string shown = TerminalText(held_);
  held_.clear();
  return shown;
}

}  // namespace taas
