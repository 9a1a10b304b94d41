// A clock that stands still until a test moves it.
//
// Ownership: the test's. Threads: all methods are safe from any thread. Errors: none.
//
//   FakeClock clock;
//   clock.Advance(5s);

#ifndef OPERATOR_BASE_FAKE_CLOCK_H_
#define OPERATOR_BASE_FAKE_CLOCK_H_

#include <mutex>

#include "operator/base/clock.h"

namespace taas {

class FakeClock : public Clock {
 public:
  Time Now() const override {
    std::lock_guard lock(mutex_);
    return now_;
  }
  // The wall clock starts at 2026-01-01T00:00:00Z and moves with `Now`.
  WallTime WallNow() const override {
    std::lock_guard lock(mutex_);
    return WallTime(std::chrono::seconds(1'767'225'600)) + (now_ - Time());
  }
  // Nobody else moves this clock, so the sleeper does.
  void SleepUntil(Time when) const override { AdvanceTo(when); }

  void Advance(Duration by) { AdvanceTo(Now() + by); }
  void AdvanceTo(Time when) const {
    std::lock_guard lock(mutex_);
    if (when > now_) now_ = when;
  }

 private:
  mutable std::mutex mutex_;
  mutable Time now_{};
};

}  // namespace taas

#endif  // OPERATOR_BASE_FAKE_CLOCK_H_
