#include "operator/base/check.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(CheckTest, ATrueConditionDoesNotEvaluateTheMessage) {
  int evaluated = 0;
  CHECK(true) << ++evaluated;
  EXPECT_EQ(evaluated, 0);
}

TEST(CheckDeathTest, AFalseConditionNamesPlaceExpressionAndReason) {
  EXPECT_DEATH(CHECK(1 > 2) << "one is " << 1,
               "check_test.cc:[0-9]+: check failed: 1 > 2 one is 1");
}

}  // namespace
}  // namespace taas
