#include "operator/kube/resource_version.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(ResourceVersionTest, NumbersAreOrderedByValueNotByText) {
  EXPECT_TRUE(IsLater("10", "9"));
  EXPECT_FALSE(IsLater("9", "10"));
  EXPECT_TRUE(IsLater("12", "11"));
  EXPECT_TRUE(IsLater("340282366920938463463374607431768211457",
                      "340282366920938463463374607431768211456"));
}

TEST(ResourceVersionTest, EqualIsNotLater) {
  EXPECT_FALSE(IsLater("7", "7"));
  EXPECT_TRUE(NotLater("7", "7"));
}

TEST(ResourceVersionTest, WhatIsNoNumberHasNoOrder) {
  for (const char* other : {"", "0", "007", "v7", "7a", "-7"}) {
    EXPECT_FALSE(IsOrdered(other)) << other;
    EXPECT_FALSE(IsLater("7", other)) << other;
    EXPECT_FALSE(IsLater(other, "7")) << other;
    EXPECT_FALSE(NotLater(other, "7")) << other;
  }
}

}  // namespace
}  // namespace taas
