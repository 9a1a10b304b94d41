// A rate limit: so many at once, and so many each second after that.
//
// Ownership: value. Threads: one. Errors: none.
//
//   TokenBucket bucket({.burst = 50, .per_second = 20});
//   if (!bucket.Take(clock.Now())) return TooManyRequests();

#ifndef DASHBOARD_HTTP_TOKEN_BUCKET_H_
#define DASHBOARD_HTTP_TOKEN_BUCKET_H_

#include <algorithm>
#include <chrono>

#include "operator/base/clock.h"

namespace taas::dashboard {

class TokenBucket {
 public:
  struct Options {
    double burst = 1;
    double per_second = 1;
  };
  explicit TokenBucket(Options options) : options_(options), left_(options.burst) {}

  bool Take(Clock::Time now) {
    const double seconds = std::chrono::duration<double>(now - last_).count();
    if (last_ != Clock::Time{}) {
      left_ = std::min(options_.burst, left_ + std::max(0.0, seconds) * options_.per_second);
    }
    last_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  Options options_;
  double left_;
  Clock::Time last_{};
};

}  // namespace taas::dashboard

#endif  // DASHBOARD_HTTP_TOKEN_BUCKET_H_
