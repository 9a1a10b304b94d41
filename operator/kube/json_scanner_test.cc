#include "operator/kube/json_scanner.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::HasSubstr;

TEST(JsonScannerTest, AStringEndsAtTheFirstQuoteThatIsNotEscaped) {
  for (const char* text : {R"("")", R"("a\"b")", R"("a\\")", R"("\\\"{[\\\\")"}) {
    const std::string both = std::string(text) + R"( "next")";
    JsonScanner scanner(both);
    EXPECT_EQ(*scanner.String(), text);
    EXPECT_EQ(*scanner.String(), R"("next")");
    EXPECT_TRUE(scanner.AtEnd());
  }
  for (const char* open : {"\"", R"("a\")", R"("\\\")"}) {
    EXPECT_THAT(JsonScanner(open).String(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("within a string")))
        << open;
  }
}

TEST(JsonScannerTest, AValueIsAsItIsWritten) {
  const std::string text = R"( [1, {"a":"]"}] , -2.5e3,null,"x" ,})";
  JsonScanner scanner(text);
  EXPECT_EQ(*scanner.Value(), R"([1, {"a":"]"}])");
  EXPECT_TRUE(scanner.Take(','));
  EXPECT_EQ(*scanner.Value(), "-2.5e3");
  EXPECT_TRUE(scanner.Take(','));
  EXPECT_EQ(*scanner.Value(), "null");
  EXPECT_TRUE(scanner.Take(','));
  EXPECT_EQ(scanner.Peek(), '"');
  EXPECT_EQ(*scanner.Value(), R"("x")");
  EXPECT_FALSE(scanner.Take('}'));
  EXPECT_TRUE(scanner.Take(','));
  EXPECT_THAT(scanner.Value(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("byte")));
}

}  // namespace
}  // namespace taas
