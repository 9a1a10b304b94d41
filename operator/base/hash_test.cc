#include "operator/base/hash.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

// Of the authors' own list.
TEST(StableHashTest, IsFnv1a) {
  EXPECT_EQ(StableHash(""), 0xcbf29ce484222325u);
  EXPECT_EQ(StableHash("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(StableHash("foobar"), 0x85944171f73967e8u);
}

TEST(HexOfTest, HasSixteenDigits) {
  EXPECT_EQ(HexOf(0x2a), "000000000000002a");
  EXPECT_EQ(HexOf(StableHash("foobar")), "85944171f73967e8");
}

}  // namespace
}  // namespace taas
