// Products of rounded factors against sums in double of the same factors, in all transpositions, at
// odd sizes. Without the processor's instructions there is nothing to look at: MatMul's own tests
// hold what is computed instead.

#include "trainer/kernels/cpu/bfloat16_gemm.h"

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "trainer/kernels/cpu/bfloat16.h"
#include "trainer/testing/run_op.h"

namespace taas {
namespace {

struct Factor {
  Floats values;
  int64_t stride = 0;
  bool transposed = false;

  // Rounded, of the matrix as the product takes it.
  double at(int64_t row, int64_t column) const {
    const int64_t index = transposed ? column * stride + row : row * stride + column;
    return FactorOf(values[static_cast<size_t>(index)], Precision::kBFloat16);
  }
};

Factor RandomFactor(int64_t rows, int64_t columns, bool transposed, int64_t room, uint64_t seed) {
  const int64_t stride = (transposed ? rows : columns) + room;
  return {RandomTensor(Shape({(transposed ? columns : rows) * stride}), seed).values, stride,
          transposed};
}

// Scratch memory as another kernel left it.
struct Scratch {
  explicit Scratch(const GemmShape& shape)
      : memory(BFloat16GemmScratch(shape) / sizeof(float) + 16, NAN) {}
  void* at() { return memory.data(); }
  std::vector<float> memory;
};

struct Case {
  const char* name;
  int64_t m, n, k;
  int64_t room = 0;  // Between stored rows.
};

class BFloat16GemmTest : public testing::TestWithParam<Case> {};

TEST_P(BFloat16GemmTest, AgreesWithItsTwinInAllTranspositions) {
  if (!HasBFloat16()) GTEST_SKIP() << kNeedsBFloat16;
  const auto [name, m, n, k, room] = GetParam();
  for (int kind = 0; kind < 8; ++kind) {
    const bool adds = kind >= 4;
    const Factor a = RandomFactor(m, k, kind % 2 == 1, room, 1);
    const Factor b = RandomFactor(k, n, kind / 2 % 2 == 1, room, 2);
    const int64_t out_stride = n + room;
    const Floats before = RandomTensor(Shape({m * out_stride + 1}), 3).values;
    GemmShape shape{.m = m, .n = n, .k = k, .transpose_a = a.transposed,
                    .transpose_b = b.transposed, .beta = adds ? 1.0f : 0.0f};
    if (room > 0) {
      shape.a_stride = a.stride;
      shape.b_stride = b.stride;
      shape.out_stride = out_stride;
    }
    Floats first;
    for (const int threads : {1, 3}) {
      shape.threads = threads;
      Floats out = before;
      Scratch scratch(shape);
      BFloat16Gemm(shape, a.values.data(), b.values.data(), out.data(), scratch.at());
      if (threads == 1) first = out;
      ASSERT_EQ(out, first) << "threads change bits";
    }
    // Sums of float32: rounding errors grow with the root of the number of terms.
    const double tolerance = 1e-6 * (1 + std::sqrt(static_cast<double>(k)));
    for (int64_t row = 0; row < m; ++row) {
      for (int64_t column = 0; column < out_stride; ++column) {
        const size_t at = static_cast<size_t>(row * out_stride + column);
        double wanted = adds || column >= n ? static_cast<double>(before[at]) : 0;
        for (int64_t i = 0; i < k && column < n; ++i) wanted += a.at(row, i) * b.at(i, column);
        ASSERT_NEAR(static_cast<double>(first[at]), wanted, tolerance)
            << row << ", " << column << ", kind " << kind;
      }
    }
    ASSERT_EQ(first.back(), before.back()) << "written past the end";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, BFloat16GemmTest,
    testing::Values(Case{"One", 1, 1, 1}, Case{"Row", 1, 17, 5}, Case{"Column", 17, 1, 5},
                    Case{"Outer", 13, 11, 1}, Case{"Inner", 1, 1, 509}, Case{"NoRows", 0, 5, 3},
                    Case{"NoColumns", 5, 0, 3}, Case{"NothingToSum", 5, 3, 0},
                    Case{"Primes", 31, 37, 41}, Case{"Tiles", 24, 64, 32},
                    Case{"UnderTiles", 23, 63, 31}, Case{"OverTiles", 25, 65, 33},
                    Case{"OverPanelOfRows", 49, 16, 9}, Case{"OverBlocks", 13, 33, 386},
                    Case{"ThreeBlocks", 5, 7, 1153}, Case{"Layer", 100, 10, 500},
                    Case{"Strides", 29, 35, 43, 5}, Case{"ManyPanels", 7, 300, 23}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(BFloat16GemmTest, OneNumberThatIsNoneStaysInItsRowAndColumn) {
  if (!HasBFloat16()) GTEST_SKIP() << kNeedsBFloat16;
  // Odd sizes: what fills up the last pair, the last tile and the last panel multiplies nothing.
  const GemmShape shape{.m = 13, .n = 33, .k = 7};
  Floats a = RandomTensor(Shape({13, 7}), 1).values;
  const Floats b = RandomTensor(Shape({7, 33}), 2).values;
  a[5 * 7 + 6] = INFINITY;
  Floats out(13 * 33);
  Scratch scratch(shape);
  BFloat16Gemm(shape, a.data(), b.data(), out.data(), scratch.at());
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(std::isinf(out[i]), i / 33 == 5) << i;
}

}  // namespace
}  // namespace taas
