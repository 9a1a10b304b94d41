// Compiled as every library is, with an error where the precompiled header is not taken.

#include <string_view>

namespace taas {

// What the test beside asks for.
int LengthOf(std::string_view text) { return static_cast<int>(text.size()); }

}  // namespace taas
