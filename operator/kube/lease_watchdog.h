// Ends a process that has outlived its lease, whatever its other threads are doing.
//
// A write that was past the gate when the process froze is as dangerous as it is late. The gate
// stops what has not begun; this thread stops the rest: it sleeps on CLOCK_BOOTTIME, which goes on
// while a machine is suspended, takes no lock that is held over I/O and speaks to nobody.
//
// Ownership: owns its thread; the gate must outlive it; destroying it ends the watch. Threads: any.
// Errors: none.
//
//   LeaseWatchdog watchdog(gate, kWatchdogGrace, EndOutlivedProcess);

#ifndef OPERATOR_KUBE_LEASE_WATCHDOG_H_
#define OPERATOR_KUBE_LEASE_WATCHDOG_H_

#include <functional>
#include <thread>

#include "operator/base/clock.h"
#include "operator/kube/write_gate.h"

namespace taas {

// What a process ends with that has lost its lease: EX_TEMPFAIL of sysexits.h. Whoever supervises
// it starts it again, and it comes back as a candidate.
inline constexpr int kLeaseLostExitCode = 75;

// From the end of the gate on. The elector, which can say why the lease was not renewed, goes
// first; well before the lease itself is over.
inline constexpr std::chrono::milliseconds kWatchdogGrace{500};

// One line on stderr if that takes no waiting, then _exit with kLeaseLostExitCode.
[[noreturn]] void EndOutlivedProcess();

class LeaseWatchdog {
 public:
  // Calls `expire` once, on its own thread, when `gate` has been shut by time for `grace`.
  LeaseWatchdog(const WriteGate& gate, Clock::Duration grace, std::function<void()> expire);
  ~LeaseWatchdog();
  LeaseWatchdog(const LeaseWatchdog&) = delete;
  LeaseWatchdog& operator=(const LeaseWatchdog&) = delete;

 private:
  void Run();

  const WriteGate& gate_;
  const Clock::Duration grace_;
  const std::function<void()> expire_;
  const RealClock clock_;
  const int timer_;  // A timerfd.
  const int stop_;   // An eventfd.
  std::thread thread_;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_LEASE_WATCHDOG_H_
