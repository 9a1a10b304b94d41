#include "trainer/ring/side_thread.h"

#include <atomic>
#include <latch>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using ::testing::ElementsAre;

TEST(SideThreadTest, WhatIsToldIsWorkedOffBesideAndReadableAfterwards) {
  std::vector<size_t> worked;
  SideThread side([&](size_t count) { worked.push_back(count); });
  for (int round = 0; round < 100; ++round) {
    worked.clear();
    side.Tell(1);
    side.Tell(2);
    side.Await();
    EXPECT_EQ(worked.back(), 2U);
    EXPECT_LE(worked.size(), 2U);
  }
}

TEST(SideThreadTest, WhoTellsDoesNotWait) {
  std::latch go_on(1), begun(1);
  std::vector<size_t> worked;
  SideThread side([&](size_t count) {
    if (count == 1) {
      begun.count_down();
      go_on.wait();
    }
    worked.push_back(count);
  });
  side.Tell(1);
  begun.wait();
  side.Tell(2);
  side.Tell(3);
  go_on.count_down();
  side.Await();
  EXPECT_THAT(worked, ElementsAre(1, 3));
}

TEST(SideThreadTest, OneThatWasToldNothingIsDone) {
  SideThread side([](size_t) { ADD_FAILURE() << "nobody has told of anything"; });
  side.Await();
}

TEST(SideThreadTest, ItEndsWhileWorkIsThere) {
  std::atomic<int> calls = 0;
  auto side = std::make_unique<SideThread>([&](size_t) { ++calls; });
  side->Tell(1);
  side.reset();
  EXPECT_LE(calls, 1);
}

}  // namespace
}  // namespace taas
