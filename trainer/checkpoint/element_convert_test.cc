#include "trainer/checkpoint/element_convert.h"

#include <bit>
#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
std::string BytesOf(std::vector<T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::vector<float> Floats(ElementType type, const std::string& bytes, size_t count) {
  std::vector<float> out(count);
  EXPECT_THAT(ToFloats(type, bytes, out), IsOk());
  return out;
}

TEST(ElementConvertTest, EveryTypeOfNumberBecomesFloats) {
  EXPECT_THAT(Floats(ElementType::kFloat32, BytesOf<float>({1.5f, -2}), 2), ElementsAre(1.5, -2));
  EXPECT_THAT(Floats(ElementType::kFloat64, BytesOf<double>({0.25, 1e300}), 2),
              ElementsAre(0.25, HUGE_VALF));
  EXPECT_THAT(Floats(ElementType::kInt64, BytesOf<int64_t>({-7}), 1), ElementsAre(-7));
  EXPECT_THAT(Floats(ElementType::kInt32, BytesOf<int32_t>({-8}), 1), ElementsAre(-8));
  EXPECT_THAT(Floats(ElementType::kInt16, BytesOf<int16_t>({-9}), 1), ElementsAre(-9));
  EXPECT_THAT(Floats(ElementType::kInt8, BytesOf<int8_t>({-10}), 1), ElementsAre(-10));
  EXPECT_THAT(Floats(ElementType::kUint8, BytesOf<uint8_t>({250}), 1), ElementsAre(250));
  EXPECT_THAT(Floats(ElementType::kBool, BytesOf<uint8_t>({0, 1, 2}), 3), ElementsAre(0, 1, 1));
}

// One, the largest, the smallest normal, the smallest of all, minus zero, infinity.
TEST(ElementConvertTest, HalvesAreIeee754) {
  const std::string bytes =
      BytesOf<uint16_t>({0x3c00, 0x7bff, 0x0400, 0x0001, 0x8000, 0x7c00, 0xfc00});
  const std::vector<float> got = Floats(ElementType::kFloat16, bytes, 7);
  EXPECT_THAT(got, ElementsAre(1, 65504, std::ldexp(1.0f, -14), std::ldexp(1.0f, -24), 0,
                               HUGE_VALF, -HUGE_VALF));
  EXPECT_TRUE(std::signbit(got[4]));
  EXPECT_TRUE(std::isnan(Floats(ElementType::kFloat16, BytesOf<uint16_t>({0x7e01}), 1)[0]));
}

TEST(ElementConvertTest, Bfloat16IsRoundedToTheNearest) {
  const std::vector<float> values = {1.0f, -0.15625f, 3.140625f,
                                     std::bit_cast<float>(0x3f80'8000u),   // Half way: to even.
                                     std::bit_cast<float>(0x3f81'8000u),
                                     std::bit_cast<float>(0x7f80'0001u)};  // A signalling NaN.
  const std::string bytes = ToBfloat16(values);
  const std::vector<float> got = Floats(ElementType::kBfloat16, bytes, values.size());
  EXPECT_THAT(std::vector<float>(got.begin(), got.begin() + 3), ElementsAre(1, -0.15625, 3.140625));
  EXPECT_EQ(std::bit_cast<uint32_t>(got[3]), 0x3f80'0000u);
  EXPECT_EQ(std::bit_cast<uint32_t>(got[4]), 0x3f82'0000u);
  EXPECT_TRUE(std::isnan(got[5]));
}

TEST(ElementConvertTest, WhatIsNoWholeNumberIsRefusedAsOne) {
  std::vector<int64_t> out(1);
  EXPECT_THAT(ToInt64s(ElementType::kInt16, BytesOf<int16_t>({-300}), out), IsOk());
  EXPECT_THAT(out, ElementsAre(-300));
  EXPECT_THAT(ToInt64s(ElementType::kFloat32, BytesOf<float>({1}), out).message(),
              HasSubstr("float32 is no whole number"));
  EXPECT_THAT(ToInt64s(ElementType::kInt32, "abc", out).message(),
              HasSubstr("3 bytes are not 1 elements of int32"));
}

}  // namespace
}  // namespace taas
