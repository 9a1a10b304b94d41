#include "trainer/config/json_text.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Code = absl::StatusCode;

TEST(JsonTextTest, JsonIsRead) {
  const auto value = ParseJsonText(R"({"a": [1, {"b": null}]})", "X");
  ASSERT_THAT(value, IsOk());
  EXPECT_EQ((*value)["a"][0], 1);
}

// Symptom: a comma too many in TF_CONFIG was "not JSON", wherever it was.
TEST(JsonTextTest, AMistakeIsToldWithLineAndColumn) {
  EXPECT_THAT(ParseJsonText("{\"a\": 1,\n \"b\": [1,],\n}", "TF_CONFIG"),
              StatusIs(Code::kInvalidArgument, HasSubstr("TF_CONFIG: not JSON: line 2, column 10: "
                                                         "syntax error")));
  EXPECT_THAT(ParseJsonText("{", "X"),
              StatusIs(Code::kInvalidArgument, HasSubstr("X: not JSON: line 1, column 2")));
  EXPECT_THAT(ParseJsonText("", "X"),
              StatusIs(Code::kInvalidArgument, HasSubstr("X: not JSON: line 1, column 1")));
}

// Symptom: the parser has another exception for a number too large, and it ended the process.
TEST(JsonTextTest, ANumberBeyondAllIsAMistakeToo) {
  EXPECT_THAT(ParseJsonText("{\"a\": 11e999}", "X"),
              StatusIs(Code::kInvalidArgument,
                       HasSubstr("X: not JSON: number overflow parsing '11e999'")));
}

TEST(JsonTextTest, TheMessageIsOneShortPrintableLine) {
  const auto status = ParseJsonText("{\"" + std::string(5'000, 'x') + "\x1b[2J\xff", "X").status();
  EXPECT_LT(status.message().size(), 400u);
  EXPECT_THAT(std::string(status.message()), AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\xff"))));
}

// Symptom: `--config` with a million brackets ended the program when it wrote them again.
TEST(JsonTextTest, DepthIsBounded) {
  const auto nested = [](int depth) {
    return std::string(static_cast<size_t>(depth), '[') +
           std::string(static_cast<size_t>(depth), ']');
  };
  EXPECT_THAT(ParseJsonText(nested(kJsonDepthMax), "X"), IsOk());
  for (const int depth : {kJsonDepthMax + 2, 1'000'000}) {
    EXPECT_THAT(ParseJsonText(nested(depth), "X"),
                StatusIs(Code::kInvalidArgument, HasSubstr("deeper than 100")));
  }
}

}  // namespace
}  // namespace taas
