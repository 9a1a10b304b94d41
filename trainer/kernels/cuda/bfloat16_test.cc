// Floats to bfloat16 and back on the emulator: which bits, of arrays of any length and place.

#include "trainer/kernels/cuda/bfloat16.h"

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/emulate/emulator.h"
#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/testing/emulated_stream.h"

namespace taas::cuda {
namespace {

using emulate::DeviceBuffer;
using emulate::Emulator;
using emulate::Order;
using Floats = std::vector<float>;
using Halves = std::vector<uint16_t>;

constexpr EmulatedStream::Turns kTurns[] = {
    {}, {.order = Order::kDescending}, {.order = Order::kSeeded, .seed = 3}};

Halves Narrowed(const Floats& of, bool by_fours, const EmulatedStream::Turns& turns = {}) {
  Emulator emulator;
  EmulatedStream stream(emulator, turns);
  const auto count = static_cast<int64_t>(of.size());
  const DeviceBuffer<float> from(emulator, "from", of);
  const DeviceBuffer<uint16_t> to(emulator, "to", of.size());
  EXPECT_THAT(Launch({.stream = &stream}, kNarrowKernel, ForElements(count, 4),
                     {.arrays = {{from.data(), to.data(), count}}, .by_fours = by_fours}),
              IsOk());
  EXPECT_EQ(to.FirstUnwritten(), -1);
  return to.Read();
}

Floats Widened(const Halves& of, bool by_fours, const EmulatedStream::Turns& turns = {}) {
  Emulator emulator;
  EmulatedStream stream(emulator, turns);
  const auto count = static_cast<int64_t>(of.size());
  const DeviceBuffer<uint16_t> from(emulator, "from", of);
  const DeviceBuffer<float> to(emulator, "to", of.size());
  EXPECT_THAT(
      Launch({.stream = &stream}, kWidenKernel, ForElements(count, 4),
             {.from = from.data(), .to = to.data(), .count = count, .by_fours = by_fours}),
      IsOk());
  EXPECT_EQ(to.FirstUnwritten(), -1);
  return to.Read();
}

Floats OfBits(std::initializer_list<uint32_t> bits) {
  Floats values;
  for (const uint32_t value : bits) values.push_back(std::bit_cast<float>(value));
  return values;
}

TEST(BFloat16Test, NumbersAreTheNearestAndTiesAreEven) {
  // Below, at and above the middle, of an even number and of an odd one; what becomes infinite.
  const Floats values = OfBits({0x3f800000, 0x3f807fff, 0x3f808000, 0x3f808001, 0x3f818000,
                                0xbf818000, 0x00000000, 0x80000000, 0x7f7fffff, 0x7f800000});
  const Halves wanted = {0x3f80, 0x3f80, 0x3f80, 0x3f81, 0x3f82,
                         0xbf82, 0x0000, 0x8000, 0x7f80, 0x7f80};
  for (const bool by_fours : {true, false}) EXPECT_EQ(Narrowed(values, by_fours), wanted);
}

TEST(BFloat16Test, WhatIsNoNumberStaysNone) {
  // The last two would become numbers if their bits were rounded.
  for (const float value : OfBits({0x7fc00000, 0x7f800001, 0x7fffffff, 0xffffffff})) {
    const float back = Widened(Narrowed({value}, false), false)[0];
    EXPECT_NE(back, back) << std::bit_cast<uint32_t>(value);
  }
}

TEST(BFloat16Test, EachOfThemComesBackAsItWas) {
  Halves all;
  for (uint32_t bits = 0; bits < 0x7f80; ++bits) all.push_back(static_cast<uint16_t>(bits));
  for (const bool by_fours : {true, false}) {
    const Floats wide = Widened(all, by_fours);
    for (size_t i = 0; i < wide.size(); ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), uint32_t{all[i]} << 16);
    }
    EXPECT_EQ(Narrowed(wide, by_fours), all);
  }
}

TEST(BFloat16Test, ArraysOfAnyLengthInAnyOrderOfThreads) {
  for (const size_t count : {1, 3, 4, 5, 1'023, 1'025, 2'050}) {
    Floats values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 256);
    for (const EmulatedStream::Turns& turns : kTurns) {
      for (const bool by_fours : {true, false}) {
        EXPECT_EQ(Widened(Narrowed(values, by_fours, turns), by_fours, turns), values) << count;
      }
    }
  }
}

TEST(BFloat16Test, SeveralArraysAreNarrowedByOneLaunch) {
  Emulator emulator;
  EmulatedStream stream(emulator, {});
  const Floats values[] = {Floats(1'500, 1), Floats(8, 2), Floats(300, 3)};
  const DeviceBuffer<float> a(emulator, "a", values[0]), b(emulator, "b", values[1]),
      c(emulator, "c", values[2]);
  const DeviceBuffer<uint16_t> a16(emulator, "a16", 1'500), b16(emulator, "b16", 8),
      c16(emulator, "c16", 300);
  Grid grid = ForElements(1'500, 4);
  grid.y = 3;
  EXPECT_THAT(Launch({.stream = &stream}, kNarrowKernel, grid,
                     {.arrays = {{a.data(), a16.data(), 1'500},
                                 {b.data(), b16.data(), 8},
                                 {c.data(), c16.data(), 300}},
                      .by_fours = true}),
              IsOk());
  EXPECT_EQ(a16.Read(), Halves(1'500, 0x3f80));
  EXPECT_EQ(b16.Read(), Halves(8, 0x4000));
  EXPECT_EQ(c16.Read(), Halves(300, 0x4040));
}

}  // namespace
}  // namespace taas::cuda
