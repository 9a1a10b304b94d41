#include "dashboard/maps/view_text.h"

#include <gtest/gtest.h>

#include "third_party/json.h"

namespace taas::dashboard {
namespace {

struct Case {
  std::string text;
  size_t most;
  std::string want;  // That a reader of the JSON gets.
};

TEST(ViewTextTest, AnyTextIsOneJsonStringOfAtMostSoManyBytesCutBetweenCharacters) {
  const Case cases[] = {{"worker-0", 100, "worker-0"},
                        {"", 100, ""},
                        {"abc", 2, "ab"},
                        {"abc", 0, ""},
                        {"a\"b\\c\n\x01", 100, "a\"b\\c\n\x01"},
                        {"中文", 100, "中文"},
                        {"中文", 5, "中"},
                        {"中文", 2, ""},
                        {"a\xff", 100, "a\xEF\xBF\xBD"},
                        {std::string(10'000, 'x'), kNameShownMax, std::string(253, 'x')}};
  for (const Case& one : cases) {
    std::string out;
    AppendQuoted(one.text, &out, one.most);
    EXPECT_EQ(nlohmann::json::parse(out), one.want) << out;
  }
}

TEST(ViewTextTest, MembersFollowOneAnotherAndAnEmptyTextIsNone) {
  std::string out = "{\"a\":1";
  AppendText("b", "x", &out);
  AppendText("c", "", &out);
  AppendNumber("d", -3, &out);
  EXPECT_EQ(out, R"({"a":1,"b":"x","d":-3)");
}

TEST(ViewTextTest, ACommaComesBetweenItemsOnly) {
  for (const char* before : {"", "[", "{"}) {
    std::string out = before;
    AppendComma(&out);
    EXPECT_EQ(out, before);
  }
  std::string out = "[1";
  AppendComma(&out);
  EXPECT_EQ(out, "[1,");
}

}  // namespace
}  // namespace taas::dashboard
