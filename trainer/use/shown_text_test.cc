#include "trainer/use/shown_text.h"

#include <string_view>

#include "gtest/gtest.h"

namespace taas {
namespace {

// What each byte shows, with | between them, and the rest.
std::string Parts(std::string_view text) {
  ShownText shown;
  std::string parts;
  for (const char byte : text) parts += shown.Add(byte) + "|";
  return parts + shown.Rest();
}

TEST(ShownTextTest, LettersComeOneByOne) {
  EXPECT_EQ(Parts("ab\n"), "a|b|\n|");
  EXPECT_EQ(Parts(""), "");
}

TEST(ShownTextTest, ACharacterOfSeveralBytesComesWhenItIsWhole) {
  EXPECT_EQ(Parts("\xC3\xA9x"), "|\xC3\xA9|x|");
  EXPECT_EQ(Parts("\xE2\x82\xAC"), "||\xE2\x82\xAC|");
  EXPECT_EQ(Parts("\xF0\x9F\x98\x80"), "|||\xF0\x9F\x98\x80|");
}

TEST(ShownTextTest, WhatIsNoCharacterIsShownAsSuch) {
  EXPECT_EQ(Parts("\xFF"), "\xEF\xBF\xBD|");
  EXPECT_EQ(Parts("\x80"), "\xEF\xBF\xBD|");
  EXPECT_EQ(Parts("\xE2\x82"), "||\xEF\xBF\xBD\xEF\xBF\xBD") << "the text ended within it";
  EXPECT_EQ(Parts("\xE2z"), "|\xEF\xBF\xBDz|") << "another character began";
  EXPECT_EQ(Parts("\xE2\xC3\xA9"), "|\xEF\xBF\xBD|\xC3\xA9|");
}

TEST(ShownTextTest, NothingIsCarriedOutByTheTerminal) {
  EXPECT_EQ(Parts("\x1B[2J"), "\\u001b|[|2|J|");
  EXPECT_EQ(Parts("\xE2\x80\xAE"), "||\\u202e|") << "a mark of the direction of writing";
}

}  // namespace
}  // namespace taas
