// The command line as CLI11 reads it right.
//
// Ownership: values. Threads: any. Errors: none.
//
//   app.Parse(SplitEmptyValues(argc, argv, {"--health-addr"}));

#ifndef OPERATOR_CMD_ARGUMENTS_H_
#define OPERATOR_CMD_ARGUMENTS_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace taas {

// Arguments without the program's name, with `--flag=` of these flags as `--flag` and an empty one.
// CLI11 takes `--flag=` for a flag whose value follows; of these the user means none. Of any other
// an empty value is likely a variable that was not set, and no business of this.
std::vector<std::string> SplitEmptyValues(int argc, const char* const* argv,
                                          std::initializer_list<std::string_view> flags);

}  // namespace taas

#endif  // OPERATOR_CMD_ARGUMENTS_H_
