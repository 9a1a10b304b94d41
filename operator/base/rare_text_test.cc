#include "operator/base/rare_text.h"

#include <sstream>
#include <utility>

#include "gtest/gtest.h"

namespace taas {
namespace {

size_t LengthOf(const std::string& text) { return text.size(); }

TEST(RareTextTest, IsEmptyAtFirstAndTakesAPointerOnly) {
  const RareText text;
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(text.str(), "");
  EXPECT_EQ(sizeof(RareText), sizeof(void*));
}

TEST(RareTextTest, ReadsAsAString) {
  const RareText text = "Evicted";
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(text, "Evicted");
  EXPECT_EQ("why: " + text + "!", "why: Evicted!");
  EXPECT_EQ(LengthOf(text), 7u);
  std::ostringstream out;
  out << text;
  EXPECT_EQ(out.str(), "Evicted");
}

TEST(RareTextTest, CopiesAreTheirOwn) {
  RareText first = "one";
  const RareText second = first;
  first = "two";
  EXPECT_EQ(first, "two");
  EXPECT_EQ(second, "one");
  first = second;
  EXPECT_EQ(first, second);
  const RareText moved = std::move(first);
  EXPECT_EQ(moved, "one");
}

TEST(RareTextTest, OfAnEmptyStringIsEmpty) {
  RareText text = "one";
  text = std::string();
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(text, RareText());
}

}  // namespace
}  // namespace taas
