// Patterns in memory on the emulator: which words are written, and that each that is another one is
// found, in any order of threads.

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/status_matchers.h"
#include "trainer/cuda/emulate/emulator.h"
#include "trainer/kernels/cuda/kernels.h"
#include "trainer/kernels/cuda/launch.h"
#include "trainer/kernels/cuda/memory_check.h"
#include "trainer/kernels/cuda/testing/emulated_stream.h"

namespace taas::cuda {
namespace {

using emulate::DeviceBuffer;
using emulate::Emulator;
using emulate::Order;
using Words = std::vector<uint64_t>;

constexpr uint64_t kNone = ~uint64_t{0};
constexpr EmulatedStream::Turns kTurns[] = {
    {}, {.order = Order::kDescending}, {.order = Order::kSeeded, .seed = 3}};

// The numbers of SeededRandom are mixtures of what it counts up by this.
uint64_t Mixed(uint64_t number) { return SeededRandom(number - 0x9e3779b97f4a7c15).Next(); }

Words PatternOf(int64_t count, uint64_t seed, const EmulatedStream::Turns& turns) {
  Emulator emulator;
  EmulatedStream stream(emulator, turns);
  const DeviceBuffer<uint64_t> words(emulator, "words", static_cast<size_t>(count));
  EXPECT_THAT(Launch({.stream = &stream}, kPatternKernel, ForElements(count),
                     {words.data(), count, seed}),
              IsOk());
  EXPECT_EQ(words.FirstUnwritten(), -1);
  return words.Read();
}

MemoryFaults FaultsIn(const Words& of, uint64_t seed, const EmulatedStream::Turns& turns) {
  Emulator emulator;
  EmulatedStream stream(emulator, turns);
  const DeviceBuffer<uint64_t> words(emulator, "words", of);
  const MemoryFaults none{.count = 0, .first = kNone};
  const DeviceBuffer<MemoryFaults> faults(emulator, "faults", {&none, 1});
  EXPECT_THAT(Launch({.stream = &stream}, kPatternCheckKernel,
                     ForElements(static_cast<int64_t>(of.size())),
                     {words.data(), static_cast<int64_t>(of.size()), seed, faults.data()}),
              IsOk());
  return faults.Read()[0];
}

TEST(MemoryCheckTest, EachWordIsTheMixtureOfItsPlaceAndTheSeed) {
  for (const int64_t count : {1, 255, 256, 257, 700}) {
    for (const EmulatedStream::Turns& turns : kTurns) {
      for (const uint64_t seed : {uint64_t{0}, kNone}) {
        Words wanted;
        for (int64_t i = 0; i < count; ++i) {
          wanted.push_back(Mixed(static_cast<uint64_t>(i) ^ seed));
        }
        EXPECT_EQ(PatternOf(count, seed, turns), wanted) << count;
      }
    }
  }
}

TEST(MemoryCheckTest, WhatIsAnotherIsCountedAndTheFirstIsNamed) {
  for (const EmulatedStream::Turns& turns : kTurns) {
    Words words = PatternOf(700, 5, turns);
    const MemoryFaults right = FaultsIn(words, 5, turns);
    EXPECT_EQ(right.count, 0u);
    EXPECT_EQ(right.first, kNone);
    for (const size_t place : {699, 256, 13}) words[place] ^= uint64_t{1} << 63;
    const MemoryFaults wrong = FaultsIn(words, 5, turns);
    EXPECT_EQ(wrong.count, 3u);
    EXPECT_EQ(wrong.first, 13u);
    EXPECT_EQ(FaultsIn(words, 6, turns).count, 700u) << "of another seed none is right";
  }
}

}  // namespace
}  // namespace taas::cuda
