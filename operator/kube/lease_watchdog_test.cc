#include "operator/kube/lease_watchdog.h"

#include <fcntl.h>
#include <unistd.h>

#include <future>

#include "gtest/gtest.h"

namespace taas {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(LeaseWatchdogTest, ExpiresAfterTheGateHasBeenShutForItsGraceAndNotBefore) {
  const RealClock clock;
  WriteGate gate(clock);
  const Clock::Time end = clock.Now() + milliseconds(50);
  gate.OpenUntil(end);
  std::promise<Clock::Time> expired;
  LeaseWatchdog watchdog(gate, milliseconds(50), [&] { expired.set_value(clock.Now()); });
  auto when = expired.get_future();
  ASSERT_EQ(when.wait_for(seconds(20)), std::future_status::ready);
  EXPECT_GE(when.get(), end + milliseconds(50));
}

TEST(LeaseWatchdogTest, ARenewalPutsItOff) {
  const RealClock clock;
  WriteGate gate(clock);
  const Clock::Time first = clock.Now() + milliseconds(50);
  gate.OpenUntil(first);
  std::promise<Clock::Time> expired;
  LeaseWatchdog watchdog(gate, milliseconds(0), [&] { expired.set_value(clock.Now()); });
  gate.OpenUntil(first + milliseconds(200));
  auto when = expired.get_future();
  ASSERT_EQ(when.wait_for(seconds(20)), std::future_status::ready);
  EXPECT_GE(when.get(), first + milliseconds(200));
}

TEST(LeaseWatchdogTest, DoesNothingOnceItIsGone) {
  const RealClock clock;
  WriteGate gate(clock);
  gate.OpenUntil(clock.Now() + seconds(3600));
  const Clock::Time begun = clock.Now();
  { LeaseWatchdog watchdog(gate, seconds(1), [] { FAIL() << "it expired"; }); }
  EXPECT_LT(clock.Now() - begun, seconds(20)) << "its end waits for no timer";
}

// Also where nobody reads what it says.
TEST(LeaseWatchdogDeathTest, TheProcessEndsWithTheDocumentedCodeAndSaysWhy) {
  EXPECT_EXIT(EndOutlivedProcess(), testing::ExitedWithCode(kLeaseLostExitCode),
              "the lease was not renewed in time");
}

TEST(LeaseWatchdogDeathTest, AFullPipeDoesNotKeepTheProcessAlive) {
  EXPECT_EXIT(
      {
        int ends[2];
        if (pipe(ends) != 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0) _exit(1);
        const char block[4096] = {};
        while (write(ends[1], block, sizeof(block)) > 0) {
        }
        if (fcntl(ends[1], F_SETFL, 0) != 0 || dup2(ends[1], STDERR_FILENO) < 0) _exit(2);
        EndOutlivedProcess();
      },
      testing::ExitedWithCode(kLeaseLostExitCode), "");
}

}  // namespace
}  // namespace taas
