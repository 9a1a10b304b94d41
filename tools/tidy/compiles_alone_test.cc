#include "tools/tidy/compiles_alone.h"

#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace taas::tidy {
namespace {

void Write(const std::string& name, const std::string& text) {
  std::ofstream(::testing::TempDir() + "/" + name) << text;
}

TEST(CompilesAloneTest, HeaderThatIncludesWhatItUsesCompiles) {
  Write("a.h", "#include <string>\ninline std::string A() { return \"a\"; }\n");
  Write("b.h", "#include \"a.h\"\ninline std::string B() { return A(); }\n");
  EXPECT_TRUE(CompilesAlone(::testing::TempDir(), "b.h"));
}

TEST(CompilesAloneTest, HeaderThatNeedsAnotherBeforeItDoesNot) {
  Write("c.h", "inline std::string C() { return \"c\"; }\n");
  EXPECT_FALSE(CompilesAlone(::testing::TempDir(), "c.h"));
  EXPECT_FALSE(CompilesAlone(::testing::TempDir(), "absent.h"));
}

}  // namespace
}  // namespace taas::tidy
