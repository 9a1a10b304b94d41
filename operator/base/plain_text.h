// Texts of others for tables, logs and terminals: on one line, and without what makes a terminal or
// a page show something else than what is there.
//
// Ownership: values. Threads: any. Errors: none.
//
//   status.message = PlainText(report.message);

#ifndef OPERATOR_BASE_PLAIN_TEXT_H_
#define OPERATOR_BASE_PLAIN_TEXT_H_

#include <string>
#include <string_view>

namespace taas {

// A space for each control character (line ends and escapes among them), line separator and mark of
// the direction of writing; U+FFFD for each byte that is no UTF-8.
std::string PlainText(std::string_view text);

}  // namespace taas

#endif  // OPERATOR_BASE_PLAIN_TEXT_H_
