// Rows of text as aligned columns, the way kubectl prints them. A row is a line, whatever is in its
// cells (terminal_text.h).
//
// Ownership: values. Threads: any. Errors: none; rows may be of different lengths.
//
//   out << FormatTable({{"NAME", "STATE"}, {"mnist", "Running"}});

#ifndef CLI_TABLE_H_
#define CLI_TABLE_H_

#include <string>
#include <vector>

namespace taas {

// Each line begins with `margin` and has no blanks at its end. Empty cells read "-".
std::string FormatTable(const std::vector<std::vector<std::string>>& rows,
                        const std::string& margin = "");

}  // namespace taas

#endif  // CLI_TABLE_H_
