// Texts of others on their way to a terminal: what is there is shown, and nothing is carried out.
//
// Names, messages and events are written by whoever may make a job. Escape sequences in them would
// move the cursor, set the title or answer for the user, and marks of the direction of writing let
// a text read otherwise than it is.
//
// Ownership: values. Threads: any. Errors: none.
//
//   io.err << TerminalText(job.status.message) << "\n";

#ifndef OPERATOR_BASE_TERMINAL_TEXT_H_
#define OPERATOR_BASE_TERMINAL_TEXT_H_

#include <string>
#include <string_view>

namespace taas {

// As JSON writes it, \u001b, for each control character but line end and tab, each separator of
// lines and each mark of direction: what is inside a text of JSON stays the same text. U+FFFD for
// each byte that is no UTF-8.
std::string TerminalText(std::string_view text);

// Also \n and \t for line end and tab: for a cell of a table, which another line would break.
std::string TerminalCell(std::string_view text);

}  // namespace taas

#endif  // OPERATOR_BASE_TERMINAL_TEXT_H_
