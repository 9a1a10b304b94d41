#include "dashboard/server/visible_text.h"

#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas::dashboard {
namespace {

TEST(VisibleTextTest, WhatWouldNotShowIsNamed) {
  EXPECT_EQ(VisibleText("plain, with\ttabs\nand lines, 日本 😀 äö"),
            "plain, with\ttabs\nand lines, 日本 😀 äö");
  EXPECT_EQ(VisibleText("a\x1b]0;title\x07\x7f" "b\rc"), "a␛]0;title␇␡b␍c");
  EXPECT_EQ(VisibleText(std::string("x\0y", 3)), "x␀y");
  EXPECT_EQ(VisibleText("\xC2\x9B"), "⟨009B⟩");
}

// Symptom: a job's message that turns the direction of the text was read from its end.
TEST(VisibleTextTest, NothingTurnsTheTextAround) {
  EXPECT_EQ(VisibleText("ab\u202Egnp.exe\u2069"), "ab⟨202E⟩gnp.exe⟨2069⟩");
  EXPECT_EQ(VisibleText("\u2028…\u00A0·"), "⟨2028⟩…\u00A0·");
}

TEST(VisibleTextTest, WhatIsNoUtf8IsLeftAlone) {
  EXPECT_EQ(VisibleText("\xE2\x80"), "\xE2\x80");
  EXPECT_EQ(VisibleText("\xC2"), "\xC2");
}

TEST(MakeTextsVisibleTest, AllTextsOfADocument) {
  nlohmann::json document = {{"a", {{{"b", "x\ry"}}, 7}}, {"c", "plain"}};
  MakeTextsVisible(&document);
  EXPECT_EQ(document, (nlohmann::json{{"a", {{{"b", "x␍y"}}, 7}}, {"c", "plain"}}));
}

}  // namespace
}  // namespace taas::dashboard
