#include "trainer/testing/links/delay_line.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "gtest/gtest.h"

namespace taas::links {
namespace {

using std::chrono::milliseconds;
using Time = DelayLine::Time;

constexpr Time kStart{std::chrono::hours(1)};

DelayLine::Packet Packet(size_t from, size_t to, size_t bytes) {
  return {from, to, std::vector<std::byte>(bytes)};
}

// When each comes out, as long after the start, whoever asks only then.
std::vector<milliseconds> Out(DelayLine& line) {
  std::vector<milliseconds> all;
  while (const std::optional<Time> next = line.next()) {
    if (const auto due = line.Take(*next)) {
      EXPECT_EQ(due->when, *next);
      all.push_back(std::chrono::duration_cast<milliseconds>(due->when - kStart));
    }
  }
  return all;
}

TEST(DelayLineTest, APacketIsOutAfterTheDelayAndNotBefore) {
  DelayLine line({.ends = 2, .delay = milliseconds(5)});
  line.Put(Packet(0, 1, 100), kStart);
  EXPECT_FALSE(line.Take(kStart + milliseconds(5) - std::chrono::nanoseconds(1)));
  const auto due = line.Take(kStart + milliseconds(7));
  ASSERT_TRUE(due);
  EXPECT_EQ(due->when, kStart + milliseconds(5));
  EXPECT_EQ(due->packet.to, 1U);
  EXPECT_EQ(due->packet.bytes.size(), 100U);
  EXPECT_FALSE(line.next());
}

TEST(DelayLineTest, PacketsOfOneEndShareItsWireAndAllHaveTheDelay) {
  DelayLine line({.ends = 3, .delay = milliseconds(5), .bytes_per_second = 1'000'000});
  line.Put(Packet(0, 1, 1000), kStart);
  line.Put(Packet(0, 2, 1000), kStart);
  line.Put(Packet(0, 1, 1000), kStart);
  EXPECT_EQ(Out(line), (std::vector{milliseconds(6), milliseconds(7), milliseconds(8)}));
}

TEST(DelayLineTest, AnEndHearsAtThatRateHoweverManySend) {
  DelayLine line({.ends = 3, .delay = milliseconds(5), .bytes_per_second = 1'000'000});
  line.Put(Packet(1, 0, 1000), kStart);
  line.Put(Packet(2, 0, 1000), kStart);
  EXPECT_EQ(Out(line), (std::vector{milliseconds(6), milliseconds(7)}));
}

TEST(DelayLineTest, OneThatIsHeldUpBeforeItsWireOutHoldsUpNobodyElse) {
  DelayLine line({.ends = 3, .bytes_per_second = 1'000'000});
  line.Put(Packet(0, 1, 9000), kStart);
  line.Put(Packet(0, 2, 1000), kStart);
  line.Put(Packet(1, 2, 1000), kStart);
  EXPECT_EQ(Out(line), (std::vector{milliseconds(1), milliseconds(9), milliseconds(10)}));
}

TEST(DelayLineTest, WhatAWireHasNoRoomForIsDroppedAndCounted) {
  DelayLine line({.ends = 2, .bytes_per_second = 1'000'000, .waiting_bytes_max = 1500});
  line.Put(Packet(0, 1, 1000), kStart);
  line.Put(Packet(0, 1, 1000), kStart);
  EXPECT_EQ(line.dropped(), 1U);
  EXPECT_EQ(Out(line).size(), 1U);
  line.Put(Packet(0, 1, 1000), kStart + milliseconds(2));
  EXPECT_EQ(line.dropped(), 1U);
}

}  // namespace
}  // namespace taas::links
