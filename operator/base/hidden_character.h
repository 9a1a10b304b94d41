// Characters that do not show, or make what is around them show as something else: which they are
// is said once, what becomes of them is each reader's.
//
// Ownership: values. Threads: any. Errors: none.
//
//   if (IsHidden(CodePoint(character))) out += ' ';

#ifndef OPERATOR_BASE_HIDDEN_CHARACTER_H_
#define OPERATOR_BASE_HIDDEN_CHARACTER_H_

#include <cstdint>
#include <string_view>

namespace taas {

// Of one whole character in UTF-8 (Utf8Length says where it ends).
uint32_t CodePoint(std::string_view character);

// C0 and C1 control characters, line ends, tabs and DEL among them, separators of lines and
// paragraphs, and what turns the direction of writing, so that a text reads otherwise than it is
// (Unicode TR 36, 3.1).
bool IsHidden(uint32_t point);

}  // namespace taas

#endif  // OPERATOR_BASE_HIDDEN_CHARACTER_H_
