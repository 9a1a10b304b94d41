#include "trainer/checkpoint/write_pace.h"

#include <time.h>

#include <algorithm>

#include "operator/base/check.h"

namespace taas {
namespace {

// A piece that took longer was the work of something else, such as a checksum of all.
constexpr std::chrono::milliseconds kPauseMax{500};

std::chrono::nanoseconds ProcessorTime() {
  timespec time{};
  CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0) << "clock_gettime";
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

void WritePace::Limit() {
  std::lock_guard lock(mutex_);
  limited_ = true;
}

void WritePace::Hurry() {
  std::lock_guard lock(mutex_);
  limited_ = false;
  hurried_.notify_all();
}

void WritePace::Pause() {
  std::unique_lock lock(mutex_);
  const auto used = std::max(ProcessorTime() - used_, std::chrono::nanoseconds(0));
  if (limited_) {
    const auto pause = std::min<std::chrono::nanoseconds>(used * kPauseFactor, kPauseMax);
    hurried_.wait_for(lock, pause, [this] { return !limited_; });
  }
  used_ = ProcessorTime();
}

}  // namespace taas
