#include "operator/cmd/arguments.h"

#include <algorithm>

namespace taas {

std::vector<std::string> SplitEmptyValues(int argc, const char* const* argv,
                                          std::initializer_list<std::string_view> flags) {
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool split = std::any_of(flags.begin(), flags.end(), [argument](std::string_view flag) {
      return argument.size() == flag.size() + 1 && argument.starts_with(flag) &&
             argument.back() == '=';
    });
    arguments.emplace_back(argument.substr(0, argument.size() - (split ? 1 : 0)));
    if (split) arguments.emplace_back();
  }
  return arguments;
}

}  // namespace taas
