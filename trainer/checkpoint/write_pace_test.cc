#include "trainer/checkpoint/write_pace.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"

namespace taas {
namespace {

using std::chrono::steady_clock;

void WorkFor(std::chrono::milliseconds time) {
  const auto end = steady_clock::now() + time;
  while (steady_clock::now() < end) std::this_thread::yield();
}

steady_clock::duration PauseAfterWork(WritePace& pace, std::chrono::milliseconds work) {
  pace.Pause();
  WorkFor(work);
  const auto start = steady_clock::now();
  pace.Pause();
  return steady_clock::now() - start;
}

TEST(WritePaceTest, APauseIsAMultipleOfTheWorkBeforeIt) {
  WritePace pace;
  pace.Limit();
  constexpr std::chrono::milliseconds kWork{20};
  EXPECT_GE(PauseAfterWork(pace, kWork), kPauseFactor * kWork);
  EXPECT_TRUE(pace.limited());
}

TEST(WritePaceTest, WhoeverHurriesWakesTheWriter) {
  WritePace pace;
  pace.Limit();
  // Pauses of two seconds, a hundred of them: only one that is woken, and then none, ends in time.
  std::atomic<int> begun = 0;
  std::atomic<bool> hurried = false;
  std::thread writer([&] {
    for (int i = 0; i < 100 && !hurried; ++i) {
      WorkFor(std::chrono::milliseconds(700));
      ++begun;
      pace.Pause();
    }
  });
  while (begun == 0) std::this_thread::yield();
  // Now or soon it pauses for two seconds.
  const auto start = steady_clock::now();
  while (steady_clock::now() - start < std::chrono::milliseconds(200)) std::this_thread::yield();
  hurried = true;
  pace.Hurry();
  writer.join();
  EXPECT_LT(steady_clock::now() - start, std::chrono::milliseconds(1900));
  EXPECT_FALSE(pace.limited());
}

TEST(WritePaceTest, WithoutALimitThereIsNoPause) {
  WritePace pace;
  constexpr std::chrono::milliseconds kWork{60};
  EXPECT_LT(PauseAfterWork(pace, kWork), kPauseFactor * kWork);
}

}  // namespace
}  // namespace taas
