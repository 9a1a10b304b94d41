// Delay before the n-th retry of one thing.
//
// Doubles from `first` up to `limit`, so that a job that failed during a long API-server outage is
// looked at again within `limit` of the server's return.
//
// Ownership: value type. Threads: const methods are safe from any thread. Errors: none.
//
//   RetryDelay delay({.first = 5ms, .limit = 5min});
//   queue.AddAfter(key, delay.After(failures));

#ifndef OPERATOR_KUBE_RETRY_DELAY_H_
#define OPERATOR_KUBE_RETRY_DELAY_H_

#include <chrono>
#include <cstdint>

#include "operator/base/random.h"

namespace taas {

class RetryDelay {
 public:
  using Duration = std::chrono::milliseconds;
  struct Options {
    Duration first{5};
    Duration limit{300'000};  // A job that waits longer after an outage is a bad promise.
  };
  explicit RetryDelay(Options options) : options_(options) {}

  // `failures` counts from 1 and may be arbitrarily large.
  Duration After(uint32_t failures) const;
  // Uniform between After(failures) and twice that, so that many clients do not come back at once.
  Duration After(uint32_t failures, Random& random) const;

 private:
  Options options_;
};

}  // namespace taas

#endif  // OPERATOR_KUBE_RETRY_DELAY_H_
