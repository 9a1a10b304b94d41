// UTF-8 as RFC 3629 has it, for texts that come from outside.
//
// Ownership: values. Threads: any. Errors: none.

#ifndef OPERATOR_BASE_UTF8_H_
#define OPERATOR_BASE_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace taas {

// Bytes of the character that `text`, which is not empty, starts with; 0: it is no UTF-8.
size_t Utf8Length(std::string_view text);

// Each byte that is no part of a character is replaced by U+FFFD, as Kubernetes does in JSON.
std::string WithValidUtf8(std::string_view text);

// At most `bytes_max` bytes from the beginning, not ending inside a character.
std::string_view CutToCharacter(std::string_view text, size_t bytes_max);

}  // namespace taas

#endif  // OPERATOR_BASE_UTF8_H_
