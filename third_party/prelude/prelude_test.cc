// That compilers take the precompiled headers: where flags do not fit, neither file compiles.

#include <string_view>

#include "gtest/gtest.h"

namespace taas {

int LengthOf(std::string_view text);

namespace {

TEST(PreludeTest, IsTakenInLibrariesAndTests) { EXPECT_EQ(LengthOf("prelude"), 7); }

}  // namespace
}  // namespace taas
