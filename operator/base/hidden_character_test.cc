#include "operator/base/hidden_character.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(CodePointTest, CharactersOfOneToFourBytes) {
  EXPECT_EQ(CodePoint("a"), 0x61u);
  EXPECT_EQ(CodePoint("\u009b"), 0x9bu);
  EXPECT_EQ(CodePoint("\u202e"), 0x202eu);
  EXPECT_EQ(CodePoint("\U0001f642"), 0x1f642u);
}

TEST(IsHiddenTest, TheFirstAndTheLastOfEachRangeAndNoneBeside) {
  for (const uint32_t hidden : {0x00, 0x1f, 0x7f, 0x9f, 0x061c, 0x200e, 0x200f, 0x2028, 0x202e,
                                0x2066, 0x2069}) {
    EXPECT_TRUE(IsHidden(hidden)) << hidden;
  }
  for (const uint32_t shown : {0x20, 0x7e, 0xa0, 0x061b, 0x061d, 0x200d, 0x2010, 0x2027, 0x202f,
                               0x2065, 0x206a}) {
    EXPECT_FALSE(IsHidden(shown)) << shown;
  }
}

}  // namespace
}  // namespace taas
