// Rounding against a twin in double and against the processor, and the orders of pairs. What needs
// the processor's instructions has nothing to look at on a machine without them.

#include "trainer/kernels/cpu/bfloat16.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "trainer/loops/bfloat16_loops.h"
#include "trainer/testing/run_op.h"

namespace taas {
namespace {

float Widened(uint16_t half) { return std::bit_cast<float>(uint32_t{half} << 16); }

// The nearest number of 8 bits, on ties the one whose last bit is 0.
double Twin(float x) {
  int exponent = 0;
  const double fraction = std::frexp(static_cast<double>(x), &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kSmallest = std::numeric_limits<float>::min();

std::vector<float> Numbers() {
  std::vector<float> numbers = {0.0f, -0.0f, 1.0f, -1.0f, kSmallest, -kSmallest, 3e38f};
  // Ties to both sides, and their neighbours.
  for (const uint32_t bits : {0x3F808000u, 0x3F818000u, 0x3F807FFFu, 0x3F808001u, 0xBF818000u}) {
    numbers.push_back(std::bit_cast<float>(bits));
  }
  SeededRandom random(7);
  while (numbers.size() < 5003) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(random.Next()));
    if (std::abs(x) >= kSmallest && std::abs(x) < 3e38f) numbers.push_back(x);
  }
  return numbers;
}

TEST(BFloat16Test, RoundsToTheNearestAndTiesToEven) {
  for (const float x : Numbers()) {
    ASSERT_EQ(static_cast<double>(Widened(RoundToBFloat16(x))), Twin(x)) << x;
  }
  EXPECT_EQ(Widened(RoundToBFloat16(std::bit_cast<float>(0x3F808000u))), 1.0f);
  EXPECT_EQ(Widened(RoundToBFloat16(std::bit_cast<float>(0x3F818000u))), 1.015625f);
}

TEST(BFloat16Test, KeepsInfinitiesAndWhatIsNoNumber) {
  EXPECT_EQ(Widened(RoundToBFloat16(kInfinity)), kInfinity);
  EXPECT_EQ(Widened(RoundToBFloat16(-kInfinity)), -kInfinity);
  EXPECT_EQ(Widened(RoundToBFloat16(std::numeric_limits<float>::max())), kInfinity);
  // Cut off, the first would be an infinity; rounded up, the second would be -0.
  for (const uint32_t bits : {0x7F800001u, 0xFFFFFFFFu, 0x7FC00000u}) {
    EXPECT_TRUE(std::isnan(Widened(RoundToBFloat16(std::bit_cast<float>(bits))))) << bits;
  }
}

TEST(BFloat16Test, TheProcessorRoundsTheSame) {
  if (!HasBFloat16()) GTEST_SKIP() << kNeedsBFloat16;
  std::vector<float> numbers = Numbers();
  numbers.insert(numbers.end(), {kInfinity, -kInfinity, NAN, std::numeric_limits<float>::max()});
  std::vector<uint16_t> got(numbers.size() + 1, 77);
  for (const size_t n : {numbers.size(), size_t{31}, size_t{1}, size_t{0}}) {
    got.assign(got.size(), 77);
    RoundRow(numbers.data(), got.data(), static_cast<int64_t>(n));
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], RoundToBFloat16(numbers[i])) << numbers[i];
    EXPECT_EQ(got[n], 77) << "written past the end";
  }
}

BFloat16Pair PairOf(float low, float high) {
  return RoundToBFloat16(low) | uint32_t{RoundToBFloat16(high)} << 16;
}

TEST(BFloat16Test, PairsAreOfTwoRowsOrOfTwoNeighbours) {
  if (!HasBFloat16()) GTEST_SKIP() << kNeedsBFloat16;
  constexpr int64_t kStride = 75;
  const Floats x = RandomTensor(Shape({kVector * kStride}), 1).values;
  for (const int64_t n : {1, 2, 15, 16, 17, 33, 64, 75}) {
    std::vector<BFloat16Pair> rows(static_cast<size_t>((n + kVector - 1) / kVector * kVector), 77);
    PairRows(x.data(), x.data() + kStride, rows.data(), n);
    for (size_t i = 0; i < rows.size(); ++i) {
      const bool there = static_cast<int64_t>(i) < n;
      ASSERT_EQ(rows[i], there ? PairOf(x[i], x[i + kStride]) : 0u) << n << ", " << i;
    }
    for (const int count : {1, 7, 16}) {
      constexpr int64_t kStep = 20;
      std::vector<BFloat16Pair> columns(static_cast<size_t>(PairsOf(n) * kStep), 77);
      PairColumns(x.data(), kStride, count, columns.data(), kStep, n);
      for (int64_t p = 0; p < PairsOf(n); ++p) {
        for (int64_t row = 0; row < kStep; ++row) {
          const size_t at = static_cast<size_t>(row * kStride + 2 * p);
          const BFloat16Pair wanted =
              row >= kVector ? 77
              : row >= count ? 0
                             : PairOf(x[at], 2 * p + 1 < n ? x[at + 1] : 0.0f);
          ASSERT_EQ(columns[static_cast<size_t>(p * kStep + row)], wanted)
              << n << " numbers, " << count << " rows: pair " << p << " of row " << row;
        }
      }
    }
  }
}

}  // namespace
}  // namespace taas
