// C++ text without what is not code: comments and the content of literals become spaces.
//
// Lines and columns stay where they are, so that a finding can name them.
//
// Ownership: values. Threads: any. Errors: none; text that is no C++ gives some text of the same
// shape.
//
//   const std::string code = CodeOnly("int x;  // system_clock::now");
//   const std::vector<std::string_view> lines = SplitLines(code);

#ifndef TOOLS_TIDY_SOURCE_TEXT_H_
#define TOOLS_TIDY_SOURCE_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

namespace taas::tidy {

std::string CodeOnly(std::string_view text);
std::vector<std::string_view> SplitLines(std::string_view text);
// Columns that a line takes: code points of UTF-8.
size_t Columns(std::string_view line);

}  // namespace taas::tidy

#endif  // TOOLS_TIDY_SOURCE_TEXT_H_
