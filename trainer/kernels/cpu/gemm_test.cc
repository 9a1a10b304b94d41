#include "trainer/kernels/cpu/gemm.h"

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

std::vector<float> RandomFloats(int64_t n, uint64_t seed) {
  SeededRandom random(seed);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = static_cast<float>(2 * random.Unit() - 1);
  return values;
}

double Twin(const GemmShape& s, const std::vector<float>& a, const std::vector<float>& b,
            int64_t row, int64_t column) {
  double sum = 0;
  for (int64_t i = 0; i < s.k; ++i) {
    const int64_t at_a = s.transpose_a ? i * s.m + row : row * s.k + i;
    const int64_t at_b = s.transpose_b ? column * s.k + i : i * s.n + column;
    sum += double{a[static_cast<size_t>(at_a)]} * double{b[static_cast<size_t>(at_b)]};
  }
  return sum;
}

struct Case {
  const char* name;
  int64_t m, n, k;
};

class GemmTest : public testing::TestWithParam<Case> {};

TEST_P(GemmTest, AgreesWithItsTwinInAllTranspositions) {
  const auto [name, m, n, k] = GetParam();
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      GemmShape shape{m, n, k, transpose_a, transpose_b, /*threads=*/1};
      shape.deterministic = m + n > 200;  // In parts, of which there are several.
      const std::vector<float> a = RandomFloats(m * k, 1), b = RandomFloats(k * n, 2);
      std::vector<float> out(static_cast<size_t>(m * n) + 1, 77);
      ASSERT_THAT(Gemm(shape, a.data(), b.data(), out.data()), IsOk());
      // Rounding errors grow with the root of the number of terms; this is several times that.
      const double tolerance = 1e-6 * (1 + std::sqrt(static_cast<double>(k)));
      for (int64_t row = 0; row < m; ++row) {
        for (int64_t column = 0; column < n; ++column) {
          ASSERT_NEAR(out[static_cast<size_t>(row * n + column)], Twin(shape, a, b, row, column),
                      tolerance)
              << row << ", " << column << (transpose_a ? ", a'" : "")
              << (transpose_b ? ", b'" : "");
        }
      }
      ASSERT_EQ(out.back(), 77) << "written past the end";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, GemmTest,
                         testing::Values(Case{"One", 1, 1, 1}, Case{"Row", 1, 17, 5},
                                         Case{"Column", 17, 1, 5}, Case{"Outer", 13, 11, 1},
                                         Case{"Inner", 1, 1, 509}, Case{"NoRows", 0, 5, 3},
                                         Case{"NoColumns", 5, 0, 3}, Case{"NothingToSum", 5, 3, 0},
                                         Case{"Primes", 31, 37, 41}, Case{"Blocks", 64, 48, 32},
                                         Case{"OverBlocks", 65, 49, 33},
                                         Case{"Layer", 100, 10, 500},
                                         Case{"PartsOfRows", 333, 17, 21},
                                         Case{"PartsOfColumns", 19, 300, 23},
                                         Case{"PartsOfTheSum", 19, 23, 700}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(GemmTest, WhatWasThereIsScaledOnceWhateverThePartsOfTheSum) {
  const GemmShape shape{.m = 3, .n = 5, .k = 600, .transpose_a = true, .alpha = 2, .beta = 0.5};
  const std::vector<float> a = RandomFloats(3 * 600, 1), b = RandomFloats(600 * 5, 2);
  std::vector<float> out(15, 8);
  ASSERT_THAT(Gemm(shape, a.data(), b.data(), out.data()), IsOk());
  for (int64_t i = 0; i < 15; ++i) {
    EXPECT_NEAR(out[static_cast<size_t>(i)], 4 + 2 * Twin(shape, a, b, i / 5, i % 5), 1e-4);
  }
}

TEST(GemmTest, TwoThreadsGiveTheSameProduct) {
  const std::vector<float> a = RandomFloats(200 * 300, 1), b = RandomFloats(300 * 100, 2);
  std::vector<float> one(200 * 100), two(200 * 100);
  ASSERT_THAT(Gemm({.m = 200, .n = 100, .k = 300}, a.data(), b.data(), one.data()), IsOk());
  ASSERT_THAT(
      Gemm({.m = 200, .n = 100, .k = 300, .threads = 2}, a.data(), b.data(), two.data()), IsOk());
  for (size_t i = 0; i < one.size(); ++i) ASSERT_NEAR(one[i], two[i], 1e-4);
}

}  // namespace
}  // namespace taas
