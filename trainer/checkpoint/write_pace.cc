#include "trainer/checkpoint/write_pace.h"

#include <algorithm>

namespace taas {
namespace {

using std::chrono::steady_clock;

// A piece that took longer waited for a disk that is away, which pauses do not help.
constexpr std::chrono::seconds kPauseMax{2};

}  // namespace

void WritePace::Limit() {
  std::lock_guard lock(mutex_);
  limited_ = true;
  went_on_ = steady_clock::now();
}

void WritePace::Hurry() {
  std::lock_guard lock(mutex_);
  limited_ = false;
  hurried_.notify_all();
}

bool WritePace::limited() {
  std::lock_guard lock(mutex_);
  return limited_;
}

void WritePace::Pause() {
  std::unique_lock lock(mutex_);
  if (limited_) {
    const auto pause = std::min<steady_clock::duration>(
        kPauseFactor * (steady_clock::now() - went_on_), kPauseMax);
    hurried_.wait_for(lock, pause, [this] { return !limited_; });
  }
  went_on_ = steady_clock::now();
}

}  // namespace taas
