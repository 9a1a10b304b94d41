// What a program said last, as one line for a status: its last line, which names the error, and
// behind it as much of what stands before as there is room for.
//
// Ownership: values. Threads: any. Errors: none.
//
//   LastWords("Traceback …\n  File …\nValueError: bad shape\n")
//       == "ValueError: bad shape (after: Traceback … | File …)"

#ifndef OPERATOR_BASE_LAST_WORDS_H_
#define OPERATOR_BASE_LAST_WORDS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace taas {

// Status messages are read in tables and terminals.
inline constexpr size_t kLastWordsBytesMax = 500;

// A carriage return ends a line, too: of a progress bar the last state counts. Whoever cuts the
// result at its end keeps the error.
std::string LastWords(std::string_view text);

// The last line alone, for a cell of a table.
std::string LastLine(std::string_view text);

}  // namespace taas

#endif  // OPERATOR_BASE_LAST_WORDS_H_
