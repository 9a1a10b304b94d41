#include "cli/terminal_stream.h"

#include <string_view>

#include "operator/base/terminal_text.h"

namespace taas {

std::streamsize TerminalStream::Buffer::xsputn(const char* text, std::streamsize size) {
  to_ << TerminalText(std::string_view(text, static_cast<size_t>(size)));
  return to_.good() ? size : 0;
}

TerminalStream::Buffer::int_type TerminalStream::Buffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char text = traits_type::to_char_type(c);
  return xsputn(&text, 1) == 1 ? c : traits_type::eof();
}

int TerminalStream::Buffer::sync() { return to_.flush().good() ? 0 : -1; }

}  // namespace taas
