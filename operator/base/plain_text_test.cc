#include "operator/base/plain_text.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

using std::string_literals::operator""s;

// Symptom: a message that a program had written set the title of the terminal in which somebody
// looked at her jobs.
TEST(PlainTextTest, EscapesOfTerminalsBecomeSpaces) {
  EXPECT_EQ(PlainText("\x1b]0;title\x07red\x1b[31m"), " ]0;title red [31m");
  EXPECT_EQ(PlainText("a\0b\r\nc\td\x7f"s), "a b  c d ");
  EXPECT_EQ(PlainText("\xc2\x9b\x33m"), " 3m");  // CSI as one character.
}

TEST(PlainTextTest, WhatTurnsTheDirectionOfWritingBecomesASpace) {
  EXPECT_EQ(PlainText("gnp\u202eexe"), "gnp exe");
  EXPECT_EQ(PlainText("\u2066a\u2069\u2028\u061c\u200f"), " a    ");
}

TEST(PlainTextTest, LettersOfAllLanguagesStay) {
  EXPECT_EQ(PlainText("Zeile é 训练 🙂 ~"), "Zeile é 训练 🙂 ~");
  EXPECT_EQ(PlainText(""), "");
}

TEST(PlainTextTest, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(PlainText("a\xff\xe2\x80"), "a\ufffd\ufffd\ufffd");
}

}  // namespace
}  // namespace taas
