// Time, as an interface, so that tests decide what time it is.
//
// Two scales that are never mixed: `Now` is monotonic and measures durations and deadlines;
// `WallNow` is what a person or another machine reads, and may jump.
//
// Ownership: whoever makes a Clock outlives its users. Threads: all methods are safe from any
// thread. Errors: none.
//
//   const Clock::Time deadline = clock.Now() + 5s;

#ifndef OPERATOR_BASE_CLOCK_H_
#define OPERATOR_BASE_CLOCK_H_

#include <chrono>
#include <string>
#include <string_view>

namespace taas {

class Clock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using WallTime = std::chrono::system_clock::time_point;
  using Duration = std::chrono::nanoseconds;

  virtual ~Clock() = default;
  // CLOCK_BOOTTIME: goes on while the machine sleeps, so that a lease held before has expired
  // after.
  virtual Time Now() const = 0;
  virtual WallTime WallNow() const = 0;
  virtual void SleepUntil(Time when) const = 0;
};

// The machine's clock.
class RealClock : public Clock {
 public:
  Time Now() const override;
  WallTime WallNow() const override;
  void SleepUntil(Time when) const override;
};

// "2026-11-21T05:54:17Z", the form of Kubernetes' metav1.Time.
std::string FormatRfc3339(Clock::WallTime time);
// "2026-11-21T05:54:17.123456Z", the form of metav1.MicroTime.
std::string FormatRfc3339Micro(Clock::WallTime time);
// Accepts both forms, fractions of any length and numeric offsets. False if `text` is neither.
bool ParseRfc3339(std::string_view text, Clock::WallTime* time);

}  // namespace taas

#endif  // OPERATOR_BASE_CLOCK_H_
