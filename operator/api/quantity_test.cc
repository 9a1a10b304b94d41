#include "operator/api/quantity.h"

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
                    Case{"Space", " 4", std::nullopt}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(MilliQuantityTest, IsWholeWhereItCanBe) {
  EXPECT_EQ(MilliQuantity(0), "0");
  EXPECT_EQ(MilliQuantity(500), "500m");
  EXPECT_EQ(MilliQuantity(2000), "2");
  EXPECT_EQ(MilliQuantity(4'294'967'296'000), "4294967296");
}

}  // namespace
}  // namespace taas
