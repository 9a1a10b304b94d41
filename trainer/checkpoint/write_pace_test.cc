#include "trainer/checkpoint/write_pace.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"

namespace taas {
namespace {

using std::chrono::steady_clock;

void BusyFor(std::chrono::milliseconds time) {
  const auto end = steady_clock::now() + time;
  while (steady_clock::now() < end) {
  }
}

steady_clock::duration PauseAfterWork(WritePace& pace, std::chrono::milliseconds work) {
  pace.Pause();
  BusyFor(work);
  const auto start = steady_clock::now();
  pace.Pause();
  return steady_clock::now() - start;
}

TEST(WritePaceTest, APauseIsAsLongAsTheWorkTakesOfAProcessor) {
  WritePace pace;
  pace.Limit();
  // Other work of the machine makes the time of the processor less than that of the clock.
  EXPECT_GT(PauseAfterWork(pace, std::chrono::milliseconds(20)), std::chrono::milliseconds(20));
}

TEST(WritePaceTest, WhoeverHurriesIsNotHeldUp) {
  WritePace pace;
  constexpr std::chrono::milliseconds kWork{60};
  pace.Limit();
  std::atomic<bool> works = false;
  steady_clock::duration paused{};
  std::thread writer([&] {
    works = true;
    paused = PauseAfterWork(pace, kWork);
  });
  while (!works) std::this_thread::yield();
  // While it works or while it pauses: either way it goes on at once.
  pace.Hurry();
  writer.join();
  EXPECT_LT(paused, kPauseFactor * kWork);
}

TEST(WritePaceTest, WithoutALimitThereIsNoPause) {
  WritePace pace;
  constexpr std::chrono::milliseconds kWork{60};
  EXPECT_LT(PauseAfterWork(pace, kWork), kPauseFactor * kWork);
}

}  // namespace
}  // namespace taas
