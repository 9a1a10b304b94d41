#include "operator/api/quantity.h"

#include <limits>

#include "gtest/gtest.h"

namespace taas {
namespace {

struct Case {
  const char* name;
  const char* text;
  std::optional<int64_t> want;
};

class QuantityMilliTest : public testing::TestWithParam<Case> {};

TEST_P(QuantityMilliTest, IsWhatKubernetesReads) {
  EXPECT_EQ(QuantityMilli(GetParam().text), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, QuantityMilliTest,
    testing::Values(Case{"Whole", "4", 4000}, Case{"Milli", "500m", 500},
                    Case{"Fraction", "1.5", 1500}, Case{"Small", "100n", 1},
                    Case{"Binary", "4Gi", 4'294'967'296'000},
                    Case{"Decimal", "4G", 4'000'000'000'000},
                    Case{"Exponent", "1e3", 1'000'000}, Case{"LargeExponent", "1E3", 1'000'000},
                    Case{"Exa", "0E", 0}, Case{"None", "0", 0},
                    Case{"TooMuch", "10E", std::nullopt}, Case{"Negative", "-1", std::nullopt},
                    Case{"Empty", "", std::nullopt}, Case{"Word", "much", std::nullopt},
                    Case{"Unit", "4GB", std::nullopt}, Case{"Hexadecimal", "0x10", std::nullopt},
                    Case{"Space", " 4", std::nullopt},
                    // Rounding is exact and upwards, however many digits there are.
                    Case{"ATenth", "0.1", 100}, Case{"Nano", "1n", 1}, Case{"Micro", "1500u", 2},
                    Case{"NoMore", "1.0000000000", 1000}, Case{"BitMore", "1.0000000001", 1001},
                    Case{"LongFraction", "0.00000000000000000000000000000001", 1},
                    Case{"LongWhole", "000000000000000000000000000000000000004", 4000},
                    Case{"MostWhole", "9223372036854775", 9'223'372'036'854'775'000},
                    Case{"Most", "9223372036854775807m", 9'223'372'036'854'775'807},
                    Case{"OneMore", "9223372036854775808m", std::nullopt},
                    Case{"Pebi", "1Pi", 1'125'899'906'842'624'000},
                    Case{"Exbi", "1Ei", std::nullopt},
                    Case{"PartOfAnExbi", "0.000000000000000001Ei", 1153},
                    Case{"NegativeExponent", "25e-1", 2500},
                    Case{"SignedExponent", "2e+2", 200'000},
                    Case{"HugeExponent", "1e1000000", std::nullopt},
                    Case{"TinyExponent", "1e-1000000", 1}, Case{"NegativeZero", "-0", 0},
                    Case{"Plus", "+2", 2000}, Case{"OnlyADot", ".", 0}, Case{"NoWhole", ".5", 500},
                    Case{"NoFraction", "1.G", 1'000'000'000'000},
                    Case{"TwoDots", "1.2.3", std::nullopt},
                    Case{"ExponentAndSuffix", "1e3k", std::nullopt},
                    Case{"SpaceInside", "1 Gi", std::nullopt},
                    Case{"Infinite", "inf", std::nullopt}, Case{"NotANumber", "nan", std::nullopt},
                    Case{"LowerGi", "1gi", std::nullopt}, Case{"UpperK", "1K", std::nullopt}),
    [](const auto& info) { return std::string(info.param.name); });

// `limits.memory: 4GB` was taken for no limit at all, and 1Pi, 2E and 1e30 for nothing asked.
TEST(SaturatedMilliTest, WhatIsTooLargeIsTheLargest) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const char* text : {"1e30", "2E", "1Ei", "1e1000000", "99999999999999999999Ei"}) {
    EXPECT_EQ(SaturatedMilli(text), kMost) << text;
    EXPECT_EQ(QuantityFlaw(text), "") << text;
  }
  EXPECT_EQ(SaturatedMilli("-1e30"), -kMost);
  EXPECT_EQ(SaturatedMilli("-1500m"), -1500);
  EXPECT_EQ(SaturatedMilli(" 1Pi\n"), 1'125'899'906'842'624'000);
  EXPECT_EQ(SaturatedMilli("4GB"), 0);
}

TEST(QuantityFlawTest, IsSaidInKubernetesWords) {
  constexpr char kForm[] =
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  for (const char* text : {"", "4GB", "abc", "1 Gi", "0x10", "1.2.3", "1e3k", "1..2"}) {
    EXPECT_EQ(QuantityFlaw(text), kForm) << text;
  }
  for (const char* text : {"1e", "4KG", "1K", "1mm", "--1", "1e99999999999999999999"}) {
    EXPECT_EQ(QuantityFlaw(text), "unable to parse quantity's suffix") << text;
  }
  EXPECT_EQ(QuantityFlaw("Ei"), "unable to parse numeric part of quantity");
  for (const char* text : {"0", "1", "-1", "1.5Gi", "m", " 4 ", "1E", "1e3", "+.5"}) {
    EXPECT_EQ(QuantityFlaw(text), "") << text;
  }
}

TEST(MilliQuantityTest, IsWholeWhereItCanBe) {
  EXPECT_EQ(MilliQuantity(0), "0");
  EXPECT_EQ(MilliQuantity(500), "500m");
  EXPECT_EQ(MilliQuantity(2000), "2");
  EXPECT_EQ(MilliQuantity(4'294'967'296'000), "4294967296");
}

}  // namespace
}  // namespace taas
