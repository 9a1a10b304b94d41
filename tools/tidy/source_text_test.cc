#include "tools/tidy/source_text.h"

#include "gtest/gtest.h"

namespace taas::tidy {
namespace {

TEST(CodeOnlyTest, CommentsAndLiteralsBecomeSpacesOfTheSameShape) {
  EXPECT_EQ(CodeOnly("a;  // b"), "a;      ");
  EXPECT_EQ(CodeOnly("a /* b\nc */ d"), "a     \n     d");
  EXPECT_EQ(CodeOnly("f(\"new \\\" x\", 'n')"), "f(\"        \", ' ')");
  EXPECT_EQ(CodeOnly("1'000 'x'"), "1'000 ' '");
  EXPECT_EQ(CodeOnly("R\"x(new \")\" )x\" y"), "R               y");
}

TEST(SplitLinesTest, LastLineNeedsNoNewline) {
  EXPECT_EQ(SplitLines("").size(), 0u);
  EXPECT_EQ(SplitLines("a\n").size(), 1u);
  EXPECT_EQ(SplitLines("a\n\nb").size(), 3u);
}

TEST(ColumnsTest, CodePointsAreCountedNotBytes) {
  EXPECT_EQ(Columns("a…b"), 3u);
}

}  // namespace
}  // namespace taas::tidy
