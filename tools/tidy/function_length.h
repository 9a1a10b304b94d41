// Finds long functions by counting braces: no parser, but right for code that clang-format shaped.
//
// Ownership: values. Threads: any. Errors: none.
//
//   for (const LongFunction& f : FunctionsLongerThan(CodeOnly(text), 70)) Print(f.line, f.lines);

#ifndef TOOLS_TIDY_FUNCTION_LENGTH_H_
#define TOOLS_TIDY_FUNCTION_LENGTH_H_

#include <string_view>
#include <vector>

namespace taas::tidy {

struct LongFunction {
  int line = 0;   // Of its opening brace.
  int lines = 0;  // From there to its closing brace, both counted.
};

// `code` is the result of CodeOnly. Lambdas count as part of their function.
std::vector<LongFunction> FunctionsLongerThan(std::string_view code, int lines_max);

}  // namespace taas::tidy

#endif  // TOOLS_TIDY_FUNCTION_LENGTH_H_
