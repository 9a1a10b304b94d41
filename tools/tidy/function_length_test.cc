#include "tools/tidy/function_length.h"

#include <string>

#include "gtest/gtest.h"

namespace taas::tidy {
namespace {

std::string Body(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += "  x = 1;\n";
  return text;
}

int Longest(const std::string& code) {
  const auto found = FunctionsLongerThan(code, 10);
  return found.empty() ? 0 : found[0].lines;
}

TEST(FunctionLengthTest, LinesFromBraceToBraceAreCounted) {
  EXPECT_EQ(Longest("int F() {\n" + Body(8) + "}\n"), 0);
  EXPECT_EQ(Longest("int F() {\n" + Body(9) + "}\n"), 11);
}

TEST(FunctionLengthTest, LongNamespacesClassesAndTablesAreNoFunctions) {
  EXPECT_EQ(Longest("#define M(x) x\nnamespace a {\n" + Body(20) + "}\n"), 0);
  EXPECT_EQ(Longest("class C : public D {\n" + Body(20) + "};\n"), 0);
  EXPECT_EQ(Longest("struct S {\n" + Body(20) + "};\n"), 0);
  EXPECT_EQ(Longest("constexpr int kTable[] = {\n" + Body(20) + "};\n"), 0);
}

TEST(FunctionLengthTest, MethodsInClassesInNamespacesAreFound) {
  const auto found = FunctionsLongerThan(
      "namespace a {\nclass C {\n public:\n  C() : x_(1) {\n" + Body(20) + "  }\n};\n}\n", 10);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].line, 4);
  EXPECT_EQ(found[0].lines, 22);
}

TEST(FunctionLengthTest, InnerBlocksAndLambdasBelongToTheirFunction) {
  EXPECT_EQ(Longest("void F() {\n  if (a) {\n" + Body(5) + "  }\n  auto f = [] {\n" + Body(5) +
                    "  };\n}\nvoid G() {\n}\n"),
            16);
}

}  // namespace
}  // namespace taas::tidy
