#include "operator/base/terminal_text.h"

#include <string>

#include "gtest/gtest.h"

namespace taas {
namespace {

using namespace std::string_literals;

// A program's /status said "\033]0;title\007"; `taas describe` set the title of the terminal.
TEST(TerminalTextTest, WhatATerminalWouldCarryOutIsShownInstead) {
  EXPECT_EQ(TerminalText("\033]0;title\007end"), "\\u001b]0;title\\u0007end");
  EXPECT_EQ(TerminalText("a\0b\rc\x7f"s), "a\\u0000b\\u000dc\\u007f");
  // C1 control characters in UTF-8; the first is another form of ESC [.
  EXPECT_EQ(TerminalText("\xC2\x9B"
                         "31m\xC2\x80"),
            "\\u009b31m\\u0080");
  // Right-to-left override, isolates, marks, separators.
  EXPECT_EQ(TerminalText("\u202Egnp.exe\u2066\u2069\u200E\u200F\u061C\u2028\u2029"),
            "\\u202egnp.exe\\u2066\\u2069\\u200e\\u200f\\u061c\\u2028\\u2029");
}

TEST(TerminalTextTest, OrdinaryTextOfAnyLanguageStays) {
  const std::string text = "step 10,\tloss 0.5\nÄpfel, 训练, \u05D0\u05D1, 🚀 \\u001b";
  EXPECT_EQ(TerminalText(text), text);
  EXPECT_EQ(TerminalText(""), "");
}

TEST(TerminalTextTest, WhatIsNoUtf8IsReplaced) {
  EXPECT_EQ(TerminalText("a\x9B"
                         "31m\xE2\x80"),
            "a\uFFFD31m\uFFFD\uFFFD");
}

TEST(TerminalTextTest, ACellIsOneLine) {
  EXPECT_EQ(TerminalCell("fine\nNAME  STATE\tx\r"), "fine\\nNAME  STATE\\tx\\u000d");
}

}  // namespace
}  // namespace taas
