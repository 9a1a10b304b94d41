// The times of an election, which have to suit each other, and what they say of a leader.
//
// Ownership: values. Threads: any. Errors: InvalidArgument naming the flags, with what to change.
//
//   RETURN_IF_ERROR(CheckLeaseTimes(times));
//   if (!CheckLeaseHealth(elector.state(), times, clock.Now()).ok()) …

#ifndef OPERATOR_KUBE_LEASE_TIMES_H_
#define OPERATOR_KUBE_LEASE_TIMES_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "operator/base/clock.h"

namespace taas {

struct LeaseTimes {
  std::chrono::seconds lease{15};  // A holder that is silent for so long has lost it.
  std::chrono::seconds renew{10};  // A leader that could not renew for so long gives up.
  std::chrono::seconds retry{2};   // Between two renewals; a candidate looks more often.
};
// InvalidArgument unless lease > renew > 1.2 · retry, with what to change.
absl::Status CheckLeaseTimes(const LeaseTimes& times);

// As others see it.
struct LeaseState {
  bool leads = false;
  int64_t epoch = 0;    // Of the leader that this is.
  std::string holder;   // As it was seen last; empty: nobody.
  Clock::Time renewed;  // Before the last renewal was sent; of a leader.
};
// Unavailable for a leader that should have ended long ago, which means that what had to end it
// does not work.
absl::Status CheckLeaseHealth(const LeaseState& state, const LeaseTimes& times, Clock::Time now);

}  // namespace taas

#endif  // OPERATOR_KUBE_LEASE_TIMES_H_
