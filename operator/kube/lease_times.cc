#include "operator/kube/lease_times.h"

#include "operator/kube/lease.h"

namespace taas {
namespace {

using std::chrono::seconds;

// Beyond the end of its lease, until a leader that still runs is called broken.
constexpr seconds kHealthTolerance{20};

}  // namespace

absl::Status CheckLeaseTimes(const LeaseTimes& times) {
  const auto is = [](const char* flag, seconds value) {
    return std::string(flag) + " " + std::to_string(value.count());
  };
  if (times.retry < seconds(1)) {
    return absl::InvalidArgumentError(is("--lease-retry-seconds", times.retry) +
                                      ": it must be at least 1");
  }
  if (times.renew * 10 <= times.retry * 12) {
    return absl::InvalidArgumentError(
        is("--lease-renew-seconds", times.renew) +
        " leaves no time to try again: it must be more than 1.2 times " +
        is("--lease-retry-seconds", times.retry));
  }
  if (times.lease <= times.renew) {
    return absl::InvalidArgumentError(
        is("--lease-seconds", times.lease) + " must be more than " +
        is("--lease-renew-seconds", times.renew) +
        ": the difference is for writes that are on their way when a leader gives up");
  }
  if (times.lease > kLeaseSecondsMax) {
    return absl::InvalidArgumentError(is("--lease-seconds", times.lease) + ": it must be at most " +
                                      std::to_string(kLeaseSecondsMax.count()));
  }
  return absl::OkStatus();
}

absl::Status CheckLeaseHealth(const LeaseState& state, const LeaseTimes& times, Clock::Time now) {
  if (!state.leads || now - state.renewed <= times.lease + kHealthTolerance) {
    return absl::OkStatus();
  }
  const auto ago = (now - state.renewed) / seconds(1);
  return absl::UnavailableError("this leader renewed its lease " + std::to_string(ago) +
                                " s ago and still runs");
}

}  // namespace taas
