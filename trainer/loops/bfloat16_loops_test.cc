#include "trainer/loops/bfloat16_loops.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/random.h"

namespace taas {
namespace {

// Any bits, and those where rounding turns: ties of both kinds, the largest numbers, no numbers.
std::vector<float> Numbers(size_t count) {
  SeededRandom random(7);
  std::vector<float> numbers = {0.0F, -0.0F, 1.0F, std::bit_cast<float>(0x3F808000U),
                                std::bit_cast<float>(0x3F818000U),
                                std::bit_cast<float>(0x3F808001U),
                                std::numeric_limits<float>::max(),
                                std::numeric_limits<float>::denorm_min(),
                                std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity(),
                                std::bit_cast<float>(0x7F800001U),
                                std::bit_cast<float>(0xFFFFFFFFU)};
  while (numbers.size() < count) {
    numbers.push_back(std::bit_cast<float>(static_cast<uint32_t>(random.Next())));
  }
  return numbers;
}

TEST(BFloat16LoopsTest, EveryVersionRoundsAsOneNumberIsRounded) {
  const std::vector<float> numbers = Numbers(5'003);
  for (const BFloat16Loops* const loops : SupportedBFloat16Loops()) {
    for (const size_t n : {size_t{0}, size_t{1}, size_t{31}, numbers.size()}) {
      std::vector<uint16_t> out(n);
      loops->round(numbers.data(), out.data(), static_cast<int64_t>(n));
      for (size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], RoundToBFloat16(numbers[i])) << numbers[i];
    }
  }
}

TEST(BFloat16LoopsTest, ANumberIsRoundedToTheNearestOrTheEvenOne) {
  SeededRandom random(5);
  for (int i = 0; i < 20'000; ++i) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(random.Next()));
    if (!std::isfinite(x)) continue;
    const uint16_t found = RoundToBFloat16(x);
    const double error = std::abs(static_cast<double>(FromBFloat16(found)) - x);
    if (std::isinf(FromBFloat16(found))) continue;
    for (const uint16_t other : {static_cast<uint16_t>(found + 1),
                                 static_cast<uint16_t>(found - 1)}) {
      const double others = std::abs(static_cast<double>(FromBFloat16(other)) - x);
      ASSERT_TRUE(std::isnan(others) || error < others || (error == others && found % 2 == 0)) << x;
    }
  }
  EXPECT_EQ(FromBFloat16(RoundToBFloat16(std::bit_cast<float>(0x3F808000U))), 1.0F);
  EXPECT_EQ(FromBFloat16(RoundToBFloat16(std::bit_cast<float>(0x3F818000U))), 1.015625F);
  EXPECT_TRUE(std::isnan(FromBFloat16(RoundToBFloat16(std::bit_cast<float>(0x7F800001U)))));
}

TEST(BFloat16LoopsTest, EveryVersionWidensAndAdds) {
  for (const BFloat16Loops* const loops : SupportedBFloat16Loops()) {
    for (const size_t n : {size_t{1}, size_t{17}, size_t{1'000}}) {
      std::vector<uint16_t> x(n);
      std::vector<float> wide(n), sum(n);
      for (size_t i = 0; i < n; ++i) {
        x[i] = RoundToBFloat16(static_cast<float>(i % 200));
        sum[i] = static_cast<float>(i) / 8;
      }
      loops->widen(x.data(), wide.data(), static_cast<int64_t>(n));
      loops->add(x.data(), sum.data(), static_cast<int64_t>(n));
      for (size_t i = 0; i < n; ++i) {
        ASSERT_EQ(wide[i], static_cast<float>(i % 200));
        ASSERT_EQ(sum[i], static_cast<float>(i % 200) + static_cast<float>(i) / 8);
      }
    }
  }
}

}  // namespace
}  // namespace taas
