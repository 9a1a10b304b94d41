#include "operator/kube/lease_watchdog.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "operator/base/check.h"

namespace taas {
namespace {

constexpr std::string_view kLastWords =
    "taas-operator: the lease was not renewed in time and this process was too slow to notice; it "
    "ends, so that another can lead\n";

void SetTimer(int timer, Clock::Time when) {
  const auto total = when.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(total);
  itimerspec spec{};
  spec.it_value.tv_sec = seconds.count();
  spec.it_value.tv_nsec = std::chrono::nanoseconds(total - seconds).count();
  CHECK(timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, nullptr) == 0) << "set the timer";
}

bool Readable(const pollfd& entry) { return (entry.revents & POLLIN) != 0; }

}  // namespace

void EndOutlivedProcess() {
  // A full pipe must not keep this process alive.
  pollfd out{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) != 0) {
    [[maybe_unused]] const ssize_t written =
        write(STDERR_FILENO, kLastWords.data(), kLastWords.size());
  }
  _exit(kLeaseLostExitCode);
}

LeaseWatchdog::LeaseWatchdog(const WriteGate& gate, Clock::Duration grace,
                             std::function<void()> expire)
    : gate_(gate),
      grace_(grace),
      expire_(std::move(expire)),
      timer_(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC)),
      stop_(eventfd(0, EFD_CLOEXEC)) {
  CHECK(timer_ >= 0 && stop_ >= 0) << "the watchdog of the lease gets no timer";
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "lease-watchdog");
    Run();
  });
}

LeaseWatchdog::~LeaseWatchdog() {
  const uint64_t one = 1;
  CHECK(write(stop_, &one, sizeof(one)) == sizeof(one)) << "stop the watchdog";
  thread_.join();
  close(timer_);
  close(stop_);
}

void LeaseWatchdog::Run() {
  for (;;) {
    const Clock::Time end = gate_.end() + grace_;
    if (clock_.Now() >= end) return expire_();
    SetTimer(timer_, end);
    pollfd entries[] = {{.fd = timer_, .events = POLLIN, .revents = 0},
                        {.fd = stop_, .events = POLLIN, .revents = 0}};
    poll(entries, 2, /*timeout=*/-1);
    if (Readable(entries[1])) return;
  }
}

}  // namespace taas
