#include "operator/kube/json_slice.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::Status Ignore(std::string_view) { return absl::OkStatus(); }

TEST(JsonSliceTest, BracketsThatDoNotMatchAreAnError) {
  EXPECT_THAT(ForEachElement(R"([{"a":[}]])", Ignore),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("byte")));
}

TEST(JsonSliceTest, DeepNestingCostsNoStack) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_THAT(ForEachElement("[" + deep + "]", Ignore), IsOk());
}

TEST(JsonSliceTest, AMemberIsFoundAtTheTopOnly) {
  const auto found = FindMember(R"({"a":{"x":1},"x":2,"x":3})", "x");
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(**found, "2");
  const auto missing = FindMember(R"({"a":{"x":1}})", "x");
  ASSERT_THAT(missing, IsOk());
  EXPECT_FALSE(missing->has_value());
}

TEST(JsonSliceTest, AStringIsUtf8WithoutControlCharacters) {
  const auto quoted = [](const char* text) { return "\"" + std::string(text) + "\""; };
  for (const char* good :
       {"\x7f", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    const absl::StatusOr<std::string> text = StringOf(quoted(good));
    ASSERT_THAT(text, IsOk()) << testing::PrintToString(std::string(good));
    EXPECT_EQ(*text, good);
  }
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x80\x80", "\xE0\x9F\xBF",
        "\xED\xA0\x80", "\xE2\x82", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xFF", "\n", "\x01"}) {
    EXPECT_THAT(StringOf(quoted(bad)), StatusIs(absl::StatusCode::kInvalidArgument))
        << testing::PrintToString(std::string(bad));
  }
}

TEST(JsonSliceTest, EscapesOfAStringAreResolved) {
  EXPECT_EQ(*StringOf(R"("a\n\"\\\u00e4\u20AC\ud83d\ude00")"), "a\n\"\\ä€😀");
  for (const char* bad : {R"("\x")", R"("\u12")", R"("\ud83d")", R"("\ude00")", "\"", "x",
                          R"("\)"}) {
    EXPECT_THAT(StringOf(bad), StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
  }
}

}  // namespace
}  // namespace taas
