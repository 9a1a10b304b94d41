#include "operator/api/json_depth.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(IsNestedDeeperTest, CountsObjectsAndListsButNothingInTexts) {
  EXPECT_FALSE(IsNestedDeeper("1", 0));
  EXPECT_TRUE(IsNestedDeeper("{}", 0));
  EXPECT_FALSE(IsNestedDeeper(R"({"a": [1, {"b": 2}]})", 3));
  EXPECT_TRUE(IsNestedDeeper(R"({"a": [1, {"b": 2}]})", 2));
  EXPECT_FALSE(IsNestedDeeper(R"({"a": {}, "b": {}, "c": [[], []]})", 3));
  EXPECT_FALSE(IsNestedDeeper(R"({"[{": "[[{\"[{", "b": "\\"})", 1));
  EXPECT_TRUE(IsNestedDeeper(R"({"b": "\\", "c": {}})", 1));
}

}  // namespace
}  // namespace taas
