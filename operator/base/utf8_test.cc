#include "operator/base/utf8.h"

#include <string>

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(Utf8Test, WhatIsValidStaysAsItIs) {
  for (const char* text : {"", "plain", "\xC2\x80 \xE2\x82\xAC \xF0\x9F\x98\x80", "\x7f\n"}) {
    EXPECT_EQ(WithValidUtf8(text), text);
  }
}

TEST(Utf8Test, EachByteThatIsNoCharacterIsReplaced) {
  EXPECT_EQ(WithValidUtf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(WithValidUtf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(WithValidUtf8("cut \xE2\x82"), "cut \xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Utf8Test, ATextThatIsCutDoesNotEndInsideACharacter) {
  EXPECT_EQ(CutToCharacter("日本", 4), "日");
  EXPECT_EQ(CutToCharacter("日本", 6), "日本");
  EXPECT_EQ(CutToCharacter("日本", 0), "");
  // What is no UTF-8 is not cut to nothing.
  EXPECT_EQ(CutToCharacter("\x80\x80\x80\x80\x80\x80", 5).size(), 2u);
}

}  // namespace
}  // namespace taas
