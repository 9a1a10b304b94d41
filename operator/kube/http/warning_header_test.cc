#include "operator/kube/http/warning_header.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// `taas submit` kept to itself that the claim had no data, which `kubectl apply` says.
TEST(ReadWarningsTest, EachWarningIsItsText) {
  EXPECT_THAT(ReadWarnings(""), IsEmpty());
  EXPECT_THAT(ReadWarnings(R"(299 - "the claim mnist-data has no data")"),
              ElementsAre("the claim mnist-data has no data"));
  EXPECT_THAT(ReadWarnings(R"(299 - "one, two", 299 kube "three" "Sat, 25 Aug 2012 23:34:45 GMT",)"
                           R"( 199 - "four")"),
              ElementsAre("one, two", "three", "four"));
  EXPECT_THAT(ReadWarnings(R"(299 - "unknown field \"spec.a\\b\"")"),
              ElementsAre(R"(unknown field "spec.a\b")"));
}

TEST(ReadWarningsTest, WhatHasAnotherFormIsShownAsItIs) {
  EXPECT_THAT(ReadWarnings("be careful"), ElementsAre("be careful"));
  EXPECT_THAT(ReadWarnings(R"(299 - "good", 299 - "not closed)"),
              ElementsAre("good", R"(299 - "not closed)"));
  EXPECT_THAT(ReadWarnings("299"), ElementsAre("299"));
  EXPECT_THAT(ReadWarnings(R"(299 - "\)"), ElementsAre(R"(299 - "\)"));
}

}  // namespace
}  // namespace taas
